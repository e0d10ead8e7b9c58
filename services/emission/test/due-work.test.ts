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
import { type Cancellation, rangesOf } from '../src/cancellation/cancellation.js';
import { createPostgresCancellationStore } from '../src/cancellation/cancellations.postgres.js';
import { createCancellationBackground, createSendCancellation } from '../src/cancellation/send-cancellation.js';
import { CommitUnconfirmed } from '../src/errors.js';
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
  const received = { contentHash: '', total: 1, sha256: '' };

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

describe('cancellations', () => {
  const openStore = () =>
    createPostgresCancellationStore({
      database,
      describe: (cancellation) => cancellationEvent(cancellation, NOW),
      timeoutMs: 1_000,
    });

  /** A cancellation of one number whose lease ends at `until`. */
  async function add(until: Date): Promise<Cancellation> {
    sequence += 1;
    const added = await openStore().add(
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
      until,
    );
    if ('taken' in added) throw new Error('the number is taken');
    return added.added;
  }

  describe('as due work', () => {
    describeDueWorkStore<Cancellation>(async () => ({
      store: openStore(),
      add: async (dueAt) => String((await add(dueAt)).id),
      keyOf: ({ id }) => String(id),
    }));
  });

  it.each([
    ['Rechazado', 'rejected', true],
    ['Aceptado', 'accepted', false],
  ] as const)(
    'are sent once and end as answered (%s) if the lease ends before the database stores the answer',
    async (status, state, isFree) => {
      const store = openStore();
      const cancellation = await add(new Date(NOW.getTime() + 60_000));
      const afterTheLease = new Date(NOW.getTime() + 120_000);
      let isAway = true;
      let sends = 0;
      const parts = {
        clock: () => afterTheLease,
        random: () => 0.5,
        firstRetryMs: 100,
        sleep: () => new Promise((resolve) => setImmediate(resolve)),
        tokens: { get: async () => ({ token: 't' }) },
        taxpayers: { lastKnown: async () => ({ account_id: 'account-1' }) },
        certificates: { stored: () => ({}) },
        archive: { get: async () => Buffer.from('<ANECF/>') },
        checkpoint: async () => undefined,
        pending: new Set(),
        sending: new Set<number>(),
        observer: { sent: () => undefined, alarm: () => undefined, failed: () => undefined },
        authority: {
          async submitCancellation() {
            sends += 1;
            return { outcome: 'verdict', verdict: { status, heading: null, messages: [] }, raw: null };
          },
        },
        cancellations: {
          ...store,
          async record(...change: Parameters<typeof store.record>) {
            if (isAway) throw new Error('the database is unreachable');
            return store.record(...change);
          },
        },
      } as unknown as Parameters<typeof createSendCancellation>[0];
      const send = createSendCancellation(parts);
      const options = { ...parts, send, leaseMs: 60_000, idleMs: 1_000 };
      const background = createCancellationBackground(
        options as unknown as Parameters<typeof createCancellationBackground>[0],
      );
      await expect(send(cancellation, {} as never, Buffer.from('<ANECF/>'))).rejects.toThrow(CommitUnconfirmed);
      // The database is available for claims again, before the answer is recorded.
      await background.runOnce();
      isAway = false;
      await Promise.all(parts.pending);
      expect(await store.find(cancellation.id)).toMatchObject({ state, lostSends: 0, alarm: null, nextActionAt: null });
      const { env, issuerRnc, lines } = cancellation;
      expect((await store.taken({ env, issuerRnc, ranges: rangesOf(lines) })) === null).toBe(isFree);
      expect([await background.runOnce(), sends]).toEqual([0, 1]);
    },
  );

  it('are passed over by the process that sends them, and claimed by another one when the lease ends', async () => {
    const { id } = await add(NOW);
    const request = { now: NOW, until: new Date(NOW.getTime() + 60_000), limit: 1 };
    expect(await openStore().claimDue({ ...request, except: [id] })).toEqual([]);
    expect(await openStore().claimDue(request)).toMatchObject([{ id, state: 'sending', lostSends: 1 }]);
  });
});
