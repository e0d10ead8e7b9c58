import { expect, it } from '@jest/globals';
import { createSubmissionsFirst } from '../../src/core/batches/submissions-first.js';

const microtask = () => Promise.resolve();

/** Whether a step may be taken at once, which no timer decides. */
async function goesOn(first: ReturnType<typeof createSubmissionsFirst>): Promise<boolean> {
  let taken = false;
  const step = first.lineStep().then(() => {
    taken = true;
  });
  await microtask();
  await microtask();
  const atOnce = taken;
  await step;
  return atOnce;
}

it('batches give way while a caller waits for a submission, and for ten seconds after its answer', async () => {
  let now = Date.parse('2026-06-01T12:00:00Z');
  const first = createSubmissionsFirst(() => new Date(now), 8);
  expect(await goesOn(first)).toBe(true);

  let answer: (text: string) => void = () => undefined;
  const submitted = first.run(() => new Promise<string>((resolve) => (answer = resolve)));
  now += 60_000;
  expect(await goesOn(first)).toBe(false);
  answer('EnProceso');
  expect(await submitted).toBe('EnProceso');

  now += 9_999;
  expect(await goesOn(first)).toBe(false);
  now += 1;
  expect(await goesOn(first)).toBe(true);

  await expect(first.run(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await goesOn(first)).toBe(false);
  now += 10_000;
  expect(await goesOn(first)).toBe(true);
});

it('lines go on one after the other while a caller waits', async () => {
  const first = createSubmissionsFirst(() => new Date(), 8);
  void first.run(() => new Promise(() => undefined));
  const taken: number[] = [];
  const steps = [1, 2, 3].map(async (line) => {
    await first.lineStep();
    taken.push(line);
  });
  await steps[0];
  expect(taken).toEqual([1]);
  await Promise.all(steps);
  expect(taken).toEqual([1, 2, 3]);
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
