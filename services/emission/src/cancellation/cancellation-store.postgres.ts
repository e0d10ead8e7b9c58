import { actEvents, appendToOutbox } from '@ecf/service-kit/outbox';
import type { Statement } from '@ecf/service-kit/postgres';
import { ACTS } from '../published/changed-events.js';
import { retryWhileUnavailable } from '../retry-while-unavailable.postgres.js';
import type { Cancellation, CancellationAlarm } from './cancellation.js';
import type { CancellationStore } from './cancellation-ports.js';
import { type CancellationRow, fromRow } from './cancellation-rows.postgres.js';
import * as sql from './cancellation-sql.postgres.js';
import { findTaken, freeRefusedNumbers } from './cancelled-numbers.postgres.js';
import { type CancellationStoreOptions, createNewCancellations } from './new-cancellations.postgres.js';

/** Cancellations in PostgreSQL. */
export function createPostgresCancellationStore(options: CancellationStoreOptions): CancellationStore {
  const { database, describe, timeoutMs } = options;
  const retry = <T>(work: () => Promise<T>) => retryWhileUnavailable(timeoutMs, work);

  async function rows(statement: Statement, params: readonly unknown[]): Promise<Cancellation[]> {
    return (await retry(() => database.query<CancellationRow>(statement, params))).rows.map(fromRow);
  }

  return {
    ...createNewCancellations(options),
    taken: (numbers) => retry(() => findTaken(database, numbers)),
    findLocal: async ({ env, accountId, contentHash }) =>
      (await rows(sql.FIND_LOCAL, [env, accountId, contentHash]))[0] ?? null,
    find: async (id) => (await rows(sql.FIND, [id]))[0] ?? null,
    async *list({ env, issuerRnc, limit, offset }) {
      const found = await retry(() => database.query<{ id: number }>(sql.LIST, [env, issuerRnc, limit, offset]));
      for (const { id } of found.rows) yield* await rows(sql.FIND, [id]);
    },
    claimDue: ({ now, until, limit, inFlight }) =>
      database.transaction(async (tx) => {
        const claimed = (await tx.query<CancellationRow>(sql.CLAIM, [now, until, inFlight, limit])).rows.map(fromRow);
        // One that was `failed` may arrive from now on, so it is published as `submitted`.
        if (claimed.length > 0) await appendToOutbox(tx, claimed.map(describe));
        return claimed;
      }),
    record: (before, progress, act = null) =>
      retry(() =>
        database.transaction(async (tx) => {
          const { rows: recorded } = await tx.query<CancellationRow>(sql.RECORD, [
            before.id,
            before.revision,
            progress.state,
            progress.sentAt,
            progress.response,
            JSON.stringify(progress.refused),
            progress.lostSends,
            progress.failures,
            progress.nextActionAt,
            progress.alarm,
            progress.settled?.at ?? null,
            progress.settled?.note ?? null,
          ]);
          if (recorded[0] === undefined) return null;
          const after = fromRow(recorded[0]);
          if (after.state === 'rejected' || after.refused.length > 0) await freeRefusedNumbers(tx, after);
          await appendToOutbox(tx, [describe(after), ...actEvents(ACTS, act)]);
          return after;
        }),
      ),
    needingPerson: ({ env, issuerRnc, settled, after, limit }) =>
      rows(sql.NEEDING_PERSON, [env, issuerRnc, settled, after, limit]),
    async backlog() {
      const { rows: groups } = await database.query<{
        alarm: CancellationAlarm | null;
        count: number;
        undecided: number;
      }>(sql.BACKLOG);
      return {
        undecided: groups.reduce((sum, { undecided }) => sum + undecided, 0),
        alarms: groups.flatMap(({ alarm, count }) => (alarm === null ? [] : [{ kind: alarm, count }])),
      };
    },
  };
}
