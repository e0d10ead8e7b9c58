import { describe, expect, it } from '@jest/globals';
import { dominicanDays, formatSortableDateTime } from '../src/time/dominican-time.js';

describe('Dominican time', () => {
  it('sorts as text if the year comes first', () => {
    expect(formatSortableDateTime(new Date('2026-06-24T03:59:59.900Z'))).toBe('2026-06-23 23:59:59');
  });

  it('turns inclusive days into instants', () => {
    const { from, until } = dominicanDays('2026-12-31', '2026-12-31');
    expect([from.toISOString(), until.toISOString()]).toEqual(['2026-12-31T04:00:00.000Z', '2027-01-01T04:00:00.000Z']);
  });
});
