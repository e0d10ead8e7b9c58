import { expect, it } from '@jest/globals';
import { createSubmissionsFirst } from '../src/batches/submissions-first.js';

const sleep = async () => undefined;
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

it('batches give way while a caller waits for a submission, and for five seconds after its answer', async () => {
  let now = Date.parse('2026-06-01T12:00:00Z');
  const first = createSubmissionsFirst({ clock: () => new Date(now), sleep }, 8);
  expect(await goesOn(first)).toBe(true);

  let answer: (text: string) => void = () => undefined;
  const submitted = first.run({ accountId: 'account-1' }, () => new Promise<string>((resolve) => (answer = resolve)));
  now += 60_000;
  expect(await goesOn(first)).toBe(false);
  answer('EnProceso');
  expect(await submitted).toBe('EnProceso');

  now += 4_999;
  expect(await goesOn(first)).toBe(false);
  now += 1;
  expect(await goesOn(first)).toBe(true);

  await expect(first.run({ accountId: 'account-1' }, () => Promise.reject(new Error('refused')))).rejects.toThrow(
    'refused',
  );
  expect(await goesOn(first)).toBe(false);
  now += 5_000;
  expect(await goesOn(first)).toBe(true);
});

it('batches stop giving way when the clock is set back', async () => {
  let now = Date.parse('2026-06-01T12:00:00Z');
  const first = createSubmissionsFirst({ clock: () => new Date(now), sleep }, 8);
  await first.run({ accountId: 'account-1' }, async () => 'EnProceso');
  now -= 3 * 3_600_000;
  expect(await goesOn(first)).toBe(true);
});

it('batches go on while a submission only waits for its verdict', async () => {
  let now = Date.parse('2026-06-01T12:00:00Z');
  let wake: () => void = () => undefined;
  const asleep = () => new Promise<void>((resolve) => (wake = resolve));
  const first = createSubmissionsFirst({ clock: () => new Date(now), sleep: asleep }, 8);
  const submitted = first.run({ accountId: 'account-1' }, async () => {
    await first.sleep(150);
    await new Promise(() => undefined);
  });
  now += 5_000;
  expect(await goesOn(first)).toBe(true);
  wake();
  await microtask();
  await microtask();
  expect(await goesOn(first)).toBe(false);
  expect(first.inFlight()).toBe(1);
  void submitted;
});

it('four lines go on at a time while a caller waits, and after its answer', async () => {
  const first = createSubmissionsFirst({ clock: () => new Date(), sleep }, 8);
  let answer: (text: string) => void = () => undefined;
  const submitted = first.run({ accountId: 'account-1' }, () => new Promise<string>((resolve) => (answer = resolve)));
  let taken = 0;
  const steps = Array.from({ length: 10 }, async () => {
    await first.lineStep();
    taken += 1;
  });
  await steps[0];
  expect(taken).toBe(4);
  answer('EnProceso');
  await submitted;
  await steps[4];
  expect(taken).toBe(8);
  await Promise.all(steps);
  expect(taken).toBe(10);
});

it('a submission above the most that may be in flight is refused before it begins', async () => {
  const first = createSubmissionsFirst({ clock: () => new Date(), sleep }, 2);
  let answer: (text: string) => void = () => undefined;
  const under = first.run({ accountId: 'account-1' }, () => new Promise<string>((resolve) => (answer = resolve)));
  const other = first.run({ accountId: 'account-2' }, () => new Promise<string>(() => undefined));
  let begun = false;
  const third = first.run({ accountId: 'account-3' }, async () => (begun = true));
  await expect(third).rejects.toMatchObject({ code: 'overloaded', retryAfterSeconds: 5 });
  expect([begun, first.inFlight()]).toEqual([false, 2]);
  answer('EnProceso');
  await under;
  expect(await first.run({ accountId: 'account-3' }, async () => first.inFlight())).toBe(2);
  void other;
});

it('refuses the submissions of one account above a quarter of those in flight, and no others', async () => {
  const first = createSubmissionsFirst({ clock: () => new Date(), sleep }, 1_000);
  const answers: (() => void)[] = [];
  const begin = (accountId: string) =>
    first.run({ accountId }, () => new Promise<void>((resolve) => answers.push(resolve)));
  const begun = Array.from({ length: 250 }, () => begin('account-1'));
  await expect(begin('account-1')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 });
  begun.push(begin('account-2'));
  expect(first.inFlight()).toBe(251);
  answers[0]?.();
  await begun[0];
  begun.push(begin('account-1'));
  await expect(begin('account-1')).rejects.toMatchObject({ code: 'rate_limited' });
  for (const answer of answers) answer();
  await Promise.all(begun);
  expect(first.inFlight()).toBe(0);
});

it('refuses the submissions of one API key above four fifths of the share of its account, and not those of another key', async () => {
  const first = createSubmissionsFirst({ clock: () => new Date(), sleep }, 1_000);
  const answers: (() => void)[] = [];
  const begin = (keyId: string) =>
    first.run({ accountId: 'account-1', keyId }, () => new Promise<void>((resolve) => answers.push(resolve)));
  const begun = Array.from({ length: 200 }, () => begin('key-1'));
  await expect(begin('key-1')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 });
  begun.push(begin('key-2'));
  answers[0]?.();
  await begun[0];
  begun.push(begin('key-1'));
  expect(first.inFlight()).toBe(201);
  for (const answer of answers) answer();
  await Promise.all(begun);
});
