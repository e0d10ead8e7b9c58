import type { EmissionState } from '@ecf/domain';
import type { Database } from '@ecf/service-kit/postgres';
import type { AlarmKind } from '../attempt/attempt.js';
import { type AttemptRow, fromRow } from '../attempt/emission-rows.postgres.js';
import { BACKLOG, CLAIM_DUE, RESUME } from '../attempt/emission-sql.postgres.js';
import type { EmissionStore } from '../ports.js';

/** The queries of the background. They do not wait for a database that cannot be reached: the next look repeats them. */
export function createAttemptSchedule(database: Database): Pick<EmissionStore, 'claimDue' | 'resume' | 'backlog'> {
  return {
    async claimDue({ now, until, owner, limit }) {
      const { rows } = await database.query<AttemptRow>(CLAIM_DUE, [now, limit, owner, until]);
      return rows.map(fromRow);
    },
    async resume(issuerRnc) {
      await database.query(RESUME, [issuerRnc]);
    },
    async backlog() {
      const { rows } = await database.query<{
        state: EmissionState;
        alarm: AlarmKind | null;
        count: number;
        oldest: Date;
      }>(BACKLOG);
      const oldest = Math.min(...rows.map((row) => row.oldest.getTime()));
      return {
        undecided: grouped(rows, (row) => row.state).map(([state, count]) => ({ state, count })),
        alarms: grouped(
          rows.filter((row) => row.alarm !== null),
          (row) => row.alarm as AlarmKind,
        ).map(([kind, count]) => ({ kind, count })),
        oldestCommittedAt: rows.length === 0 ? null : new Date(oldest),
      };
    },
  };
}

function grouped<R extends { count: number }, K>(rows: readonly R[], keyOf: (row: R) => K): [K, number][] {
  const counts = new Map<K, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + row.count);
  return [...counts];
}
