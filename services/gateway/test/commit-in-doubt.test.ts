import type { Database, Transaction } from '@ecf/postgres';
import { expect, it } from '@jest/globals';
import { createAccountChanges } from '../src/accounts/changes.postgres.js';

/** Runs a change; resolves with the noted revision, or the doubt about its commit, and the error. */
async function changeWith(commit: () => Promise<void>, work: () => Promise<{ value: string }>): Promise<string[]> {
  const said: string[] = [];
  const database = {
    async transaction(run: (tx: Transaction) => Promise<unknown>) {
      const effects: (() => void)[] = [];
      const query = async () => ({ rows: [{ revision: 7 }], rowCount: 1 });
      const value = await run({ query, afterCommit: (effect: () => void) => effects.push(effect) } as never);
      await commit();
      for (const effect of effects) effect();
      return value;
    },
  } as unknown as Database;
  const change = createAccountChanges({
    database,
    clock: () => new Date(),
    onCommit: (revision) => said.push(`revision ${revision}`),
    onDoubt: () => said.push('doubt'),
  });
  await change(work, null).catch((error: Error) => said.push(error.message));
  return said;
}

const lost = () => Promise.reject(new Error('Connection terminated'));

it('a committed change notes its access revision', async () => {
  expect(
    await changeWith(
      async () => undefined,
      async () => ({ value: 'done' }),
    ),
  ).toEqual(['revision 7']);
});

it('remembered keys are looked up again after a commit without an answer', async () => {
  expect(await changeWith(lost, async () => ({ value: 'done' }))).toEqual(['doubt', 'Connection terminated']);
});

it('a change that failed before its commit leaves remembered keys alone', async () => {
  const work = () => Promise.reject(new Error('refused'));
  expect(await changeWith(lost, work)).toEqual(['refused']);
});
