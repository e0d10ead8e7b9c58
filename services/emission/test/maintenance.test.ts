import type { MaintenanceWindow } from '@ecf/authority-client';
import { expect, it } from '@jest/globals';
import { maintenanceEnd } from '../src/contingency/maintenance.js';

const announced = (change: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  environment: 'Producción',
  startTime: '10:30 PM',
  endTime: '12:15 AM',
  days: ['25-11-2026', '28-11-2026'],
  ...change,
});

it.each([
  ['before it begins', '2026-11-25T22:29:59-04:00', null],
  ['when it begins', '2026-11-25T22:30:00-04:00', '2026-11-26T04:15:00.000Z'],
  ['after midnight', '2026-11-26T00:14:59-04:00', '2026-11-26T04:15:00.000Z'],
  ['when it ends', '2026-11-26T00:15:00-04:00', null],
  ['between two days', '2026-11-26T22:45:00-04:00', null],
  ['on the second day', '2026-11-28T23:00:00-04:00', '2026-11-29T04:15:00.000Z'],
])('announced maintenance over midnight is in effect at the right times: %s', (_, now, end) => {
  expect(maintenanceEnd([announced()], 'eCF', new Date(now))?.toISOString() ?? null).toBe(end);
});

it('announced maintenance ends with the last of several windows, in its own environment', () => {
  const windows = [announced(), announced({ startTime: '11:00 p. m.', endTime: '1:00 a. m.' })];
  const now = new Date('2026-11-25T23:30:00-04:00');
  expect(maintenanceEnd(windows, 'eCF', now)?.toISOString()).toBe('2026-11-26T05:00:00.000Z');
  expect(maintenanceEnd(windows, 'TesteCF', now)).toBeNull();
});

it('announced maintenance is ignored if it cannot be read', () => {
  const now = new Date('2026-11-25T23:30:00-04:00');
  const unreadable = [{ days: ['25/11'] }, { startTime: 'soon' }, { endTime: '' }, { days: [] }, { environment: 'x' }];
  expect(maintenanceEnd(unreadable.map(announced), 'eCF', now)).toBeNull();
});
