import { expect, it } from '@jest/globals';
import { createSubmissionsFirst } from '../../src/core/batches/submissions-first.js';

it('batches give way while a caller waits for a submission, and for a second after its answer', async () => {
  let now = Date.parse('2026-06-01T12:00:00Z');
  const first = createSubmissionsFirst(() => new Date(now), 8);
  const isGivingWay = () => first.mostLines() < 10;
  expect(isGivingWay()).toBe(false);

  let answer: (text: string) => void = () => undefined;
  const submitted = first.run(() => new Promise<string>((resolve) => (answer = resolve)));
  now += 60_000;
  expect(isGivingWay()).toBe(true);
  answer('EnProceso');
  expect(await submitted).toBe('EnProceso');

  now += 999;
  expect(isGivingWay()).toBe(true);
  now += 1;
  expect(isGivingWay()).toBe(false);

  await expect(first.run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(isGivingWay()).toBe(true);
  now += 1_000;
  expect(isGivingWay()).toBe(false);
});

it('batches that give way still go on', () => {
  const first = createSubmissionsFirst(() => new Date(), 8);
  first.run(() => new Promise(() => undefined));
  expect(first.mostLines()).toBeGreaterThan(0);
});

it('a submission above the most that may be in flight is refused before it begins', async () => {
  const first = createSubmissionsFirst(() => new Date(), 2);
  let answer: (text: string) => void = () => undefined;
  const under = first.run(() => new Promise<string>((resolve) => (answer = resolve)));
  const other = first.run(() => new Promise<string>(() => undefined));
  let begun = false;
  const third = first.run(async () => (begun = true));
  await expect(third).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
  expect([begun, first.inFlight()]).toEqual([false, 2]);
  answer('EnProceso');
  await under;
  expect(await first.run(async () => first.inFlight())).toBe(2);
  void other;
});
