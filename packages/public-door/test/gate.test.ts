import { expect, it } from '@jest/globals';
import { createGate, gatePlaces } from '../src/gate.js';

/** A piece of work that ends when it is told to. */
function pieces() {
  const begun: string[] = [];
  const ends: Array<() => void> = [];
  return {
    begun,
    work: (name: string) => () =>
      new Promise<string>((resolve) => {
        begun.push(name);
        ends.push(() => resolve(name));
      }),
    async endOne() {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('a sender with hundreds waiting: another one’s is next, and no more than its part waits', async () => {
  const gate = createGate(4);
  const { begun, work, endOne } = pieces();
  const answers = Array.from({ length: 300 }, (_, n) =>
    gate.pass('flood', 300, work(`flood ${n}`)).catch((error) => error),
  );
  expect(begun).toHaveLength(4);
  expect(await Promise.all(answers.slice(4 + 256))).toEqual(
    Array.from({ length: 40 }, () => expect.objectContaining({ status: 429, code: 'rate_limited' })),
  );
  const other = gate.pass('other', 9_000, work('other'));
  await endOne();
  await endOne();
  expect(begun.slice(4)).toContain('other');
  expect(begun).toHaveLength(6);
  while (begun.length < 261) await endOne();
  for (let n = 0; n < 4; n++) await endOne();
  expect(await other).toBe('other');
  expect((await Promise.all(answers)).filter((answer) => typeof answer === 'string')).toHaveLength(260);
});

it('where all places are taken, the latest of whoever waits with the most gives way: 503', async () => {
  const gate = createGate(1);
  const { work } = pieces();
  const answers = Array.from({ length: 8 * 256 + 1 }, (_, n) =>
    gate.pass(`sender ${n % 8}`, 300, work('x')).catch((error) => error),
  );
  void gate.pass('other', 300, work('other'));
  expect(await Promise.race(answers)).toMatchObject({ status: 503, code: 'service_unavailable' });
});

it('what fails leaves its place', async () => {
  const gate = createGate(1);
  await expect(gate.pass('a', 1, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await gate.pass('a', 1, async () => 7)).toBe(7);
});

it('is narrower than the pool', () => {
  expect([2, 4, 16].map(gatePlaces)).toEqual([1, 3, 12]);
});
