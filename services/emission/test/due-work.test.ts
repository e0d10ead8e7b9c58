import { randomUUID } from 'node:crypto';
import type { Database } from '@ecf/postgres';
import type { Caller } from '@ecf/taxpayer-replica';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { describeDueWorkStore } from '../../../packages/postgres/test/due-work-contract.js';
import type { Attempt } from '../src/attempt/attempt.js';
import { createPostgresEmissionStore } from '../src/attempt/emission.postgres.js';
import { beginAttempt } from '../src/attempt/transitions.js';
import type { DueLine } from '../src/batches/batch.js';
import { createPostgresBatchStore } from '../src/batches/batches.postgres.js';
import type { Cancellation } from '../src/cancellation/cancellation.js';
import { createPostgresCancellationStore } from '../src/cancellation/cancellations.postgres.js';
import { batchEvent, cancellationEvent, invoiceEvent } from '../src/published/changed-events.js';
import { at, fresh, NOW } from './support/attempts.js';
import { openEmissionDatabase } from './support/database.js';
import { encf } from './support/documents.js';

let database: Database;
let sequence = 0;

beforeAll(async () => {
  database = await openEmissionDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.query('UPDATE attempt SET next_action_at = NULL');
  await database.query('UPDATE cancellation SET next_action_at = NULL');
});

describe('attempts as due work', () => {
  describeDueWorkStore<Attempt>(async () => {
    const store = createPostgresEmissionStore({
      database,
      describe: (attempt) => invoiceEvent(attempt, NOW),
      timeoutMs: 1_000,
    });
    return {
      store: { claimDue: (request) => store.claimDue({ ...request, owner: randomUUID() }) },
      async add(dueAt) {
        sequence += 1;
        const options = { owner: 'request', leaseMs: 1, held: false };
        const document = fresh({ encf: encf('31', sequence) });
        const attempt = beginAttempt(document, null, await store.nextId(), at(0), options);
        await store.begin({ ...attempt, nextActionAt: dueAt }, null, []);
        return attempt.encf;
      },
      keyOf: (attempt) => attempt.encf,
    };
  });
});

describe('lines of batches as due work', () => {
  const store = () =>
    createPostgresBatchStore({ database, timeoutMs: 1_000, describe: (batch) => batchEvent(batch, new Date()) });
  const begin = (accountId: string) =>
    store().begin({
      env: 'TesteCF',
      caller: { accountId } as Caller,
      idempotencyKey: null,
      validate: false,
      mayWait: false,
      refusesWarnings: false,
      createdAt: NOW,
    });
  const addLine = (batchId: number, accountId: string, line: number) =>
    store().addLines(batchId, accountId, [
      { line, document: Buffer.from('{}'), encf: null, issuerRnc: null, ownReference: null },
    ]);
  const received = { contentHash: null, total: 1, sha256: '' };

  describeDueWorkStore<DueLine>(async () => {
    await database.query('DELETE FROM batch');
    return {
      store: store(),
      async add(dueAt) {
        const id = await begin('account-1');
        await addLine(id, 'account-1', 1);
        await store().receive({ id, ...received }, [], NOW);
        await database.query('UPDATE batch_line SET due_at = $2 WHERE batch_id = $1', [id, dueAt]);
        return String(id);
      },
      keyOf: ({ batchId }) => String(batchId),
    };
  });

  it('give accounts equal turns, however few lines a claim takes', async () => {
    await database.query('DELETE FROM batch');
    for (const accountId of ['a', 'b', 'c']) {
      const id = await begin(accountId);
      for (let line = 1; line <= 30; line += 1) await addLine(id, accountId, line);
      await store().receive({ id, ...received }, [], NOW);
    }
    const now = new Date(Date.now() + 1_000);
    const until = new Date(now.getTime() + 60_000);
    let afterAccount = '';
    const claim = async (limit: number, except: string[] = []) => {
      const lines = await store().claimDue({ now, until, limit, except, afterAccount });
      const accountIds = lines.map(({ caller }) => caller.accountId);
      afterAccount = accountIds.at(-1) ?? afterAccount;
      return accountIds.join('');
    };
    const turns: string[] = [];
    for (let turn = 0; turn < 6; turn += 1) turns.push(await claim(1));
    expect(turns).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect([await claim(2), await claim(2), await claim(2)]).toEqual(['ab', 'ca', 'bc']);
    expect(await claim(8)).toBe('aaabbbcc');
    expect([await claim(1, ['a', 'b']), await claim(4, ['b'])]).toEqual(['c', 'aacc']);
  });

  it('give all slots to an account whose lines are due while the batches of others wait for verdicts', async () => {
    await database.query('DELETE FROM batch');
    for (const accountId of ['a', 'b', 'c', 'd']) {
      const id = await begin(accountId);
      for (let line = 1; line <= 8; line += 1) await addLine(id, accountId, line);
      await store().receive({ id, ...received }, [], NOW);
    }
    await database.query(
      `UPDATE batch_line SET outcome = 'submitted', due_at = NULL WHERE account_id <> 'a' AND (account_id <> 'b' OR line > 1)`,
    );
    await database.query(
      `UPDATE batch_line SET due_at = now() + interval '1 hour' WHERE account_id = 'b' AND line = 1`,
    );
    const now = new Date(Date.now() + 1_000);
    const lines = await store().claimDue({ now, until: new Date(now.getTime() + 60_000), limit: 8, except: [] });
    expect(lines.map(({ caller, line }) => [caller.accountId, line])).toEqual(
      Array.from({ length: 8 }, (_, index) => ['a', index + 1]),
    );
  });

  it('are counted by open batches and waiting lines, without bodies that still arrive', async () => {
    await database.query('DELETE FROM batch');
    expect(await store().backlog()).toEqual({ batches: 0, lines: 0, oldestCreatedAt: null });
    const [done, open, arriving] = [await begin('a'), await begin('a'), await begin('a')];
    for (const id of [done, open, arriving]) for (const line of [1, 2]) await addLine(id, 'a', line);
    for (const id of [done, open]) await store().receive({ id, ...received }, [], NOW);
    const until = new Date(Date.now() + 60_000);
    const lines = await store().claimDue({ now: new Date(Date.now() + 1_000), until, limit: 4, except: [] });
    const refused = {
      outcome: 'refused',
      error: { status: 400, code: 'x', detail: '' },
      messages: [],
      faults: [],
    } as const;
    for (const line of lines.slice(0, 3)) await store().record(line, refused);
    for (const id of [done, open]) await store().count(id, NOW, until);
    expect(await store().backlog()).toEqual({ batches: 1, lines: 1, oldestCreatedAt: NOW });
    const { rows } = await database.query<{ topic: string; key: string }>(
      `SELECT topic, key FROM outbox WHERE topic = 'batches.v1'`,
    );
    expect(rows).toEqual([{ topic: 'batches.v1', key: String(done) }]);
  });

  it('are not received from a batch that was discarded while its body arrived', async () => {
    const id = await begin('account-1');
    await store().discard(id);
    await expect(store().receive({ id, ...received }, [], NOW)).rejects.toThrow(/discarded/);
  });
});

describe('cancellations as due work', () => {
  describeDueWorkStore<Cancellation>(async () => {
    const store = createPostgresCancellationStore({
      database,
      describe: (cancellation) => cancellationEvent(cancellation, NOW),
      timeoutMs: 1_000,
    });
    return {
      store,
      async add(dueAt) {
        sequence += 1;
        const added = await store.add(
          {
            env: 'TesteCF',
            issuerRnc: '101010101',
            accountId: 'account-1',
            createdBy: null,
            contentHash: String(sequence).padStart(64, '0'),
            version: '1.0',
            reason: null,
            total: 1,
            generatedAt: NOW,
            createdAt: NOW,
            xmlPath: `${sequence}.xml`,
            xmlSha256: String(sequence).padStart(64, '0'),
            lines: [{ type: '31', total: 1, ranges: [sequence, sequence] }],
          },
          Buffer.from('<ANECF/>'),
          dueAt,
        );
        if ('taken' in added) throw new Error('the number is taken');
        return String(added.added.id);
      },
      keyOf: ({ id }) => String(id),
    };
  });
});
