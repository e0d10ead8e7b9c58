import { expect, it } from '@jest/globals';
import { createSubmissionsFirst } from '../../src/core/batches/submissions-first.js';

it('batches give way while a caller waits for a submission, and for a second after its answer', async () => {
  let now = Date.parse('2026-06-01T12:00:00Z');
  const first = createSubmissionsFirst(() => new Date(now));
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
  const first = createSubmissionsFirst(() => new Date());
  first.run(() => new Promise(() => undefined));
  expect(first.mostLines()).toBeGreaterThan(0);
});
