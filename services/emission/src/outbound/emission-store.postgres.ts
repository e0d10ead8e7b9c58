import { EMISSION_STATES, type EmissionState } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { outboxPartition, outboxRow } from '@ecf/service-kit/outbox';
import type { Database, Statement } from '@ecf/service-kit/postgres';
import { pendingColumns } from '@ecf/service-kit/xml-store';
import { type Attempt, type DocumentKey, documentKey } from '../core/attempt/attempt.js';
import { changesPublished } from '../core/attempt/transitions.js';
import type { EmissionStore, RelatedNote } from '../core/ports.js';
import { createAttemptSchedule } from './attempt-schedule.postgres.js';
import { type AttemptRow, attemptRow, changedRow, emissionRow, exchangeRows, fromRow } from './emission-rows.js';
import * as sql from './emission-sql.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';
import { submissionHistory } from './submission-history.postgres.js';

export interface PostgresEmissionStoreOptions {
  readonly database: Database;
  /** The event that publishes an attempt's present state. */
  readonly describe: (attempt: Attempt) => BusEvent;
  /** Milliseconds that a call waits for a database that cannot be reached. */
  readonly timeoutMs: number;
}

/**
 * Emissions in PostgreSQL. A change is one statement that also writes its event: one transaction and one round trip.
 */
export function createPostgresEmissionStore({
  database,
  describe,
  timeoutMs,
}: PostgresEmissionStoreOptions): EmissionStore {
  function query<R>(statement: Statement, params: readonly unknown[]) {
    return retryWhileUnavailable(timeoutMs, () => database.query<R>(statement, params));
  }

  async function find({ env, issuerRnc, encf }: DocumentKey): Promise<Attempt | null> {
    const { rows } = await query<AttemptRow>(sql.FIND, [env, issuerRnc, encf]);
    return rows[0] === undefined ? null : fromRow(rows[0]);
  }

  async function isStored(attempt: Attempt): Promise<boolean> {
    const stored = await find(attempt);
    return (
      stored !== null &&
      stored.emissionId === attempt.emissionId &&
      stored.attempt === attempt.attempt &&
      stored.xml.sha256 === attempt.xml.sha256 &&
      stored.owner === attempt.owner
    );
  }

  return {
    ...createAttemptSchedule(database),
    async nextId() {
      const { rows } = await query<{ id: number }>(sql.NEXT_ID, []);
      return rows[0]?.id as number;
    },
    find,
    async look({ env, issuerRnc, encf }) {
      const { rows } = await query<LookRow>(sql.LOOK, [env, issuerRnc, encf]);
      const row = rows[0];
      if (row === undefined) return { attempt: null, cancelledBy: null };
      return { attempt: row.emission_id === null ? null : fromRow(row as AttemptRow), cancelledBy: row.cancelled_by };
    },
    async begin(attempt, sealedCertificate, files) {
      const event = describe(attempt);
      const params = [
        emissionRow(attempt),
        attemptRow(attempt),
        sealedCertificate,
        ...outboxRow(event),
        ...pendingColumns(files),
      ];
      let tries = 0;
      const { rowCount } = await retryWhileUnavailable(timeoutMs, () => {
        tries += 1;
        return database.query(sql.BEGIN, params);
      });
      // If the answer to the first commit was lost, the repeated statement finds the number taken by itself.
      const begun = rowCount > 0 || (tries > 1 && (await isStored(attempt)));
      if (begun) database.signalOutbox([outboxPartition(event.key)]);
      return begun;
    },
    submissionHistory: (attempt) => retryWhileUnavailable(timeoutMs, () => submissionHistory(database, attempt)),
    async save(before, after, exchanges) {
      const event = changesPublished(before, after) ? describe(after) : null;
      const statement = EMISSION_STATES[after.state].decided ? sql.SAVE_DECIDED : sql.SAVE;
      const { rowCount } = await query(statement, [
        changedRow({ ...after, emissionId: before.emissionId, attempt: before.attempt }),
        before.revision,
        exchangeRows(exchanges),
        ...(event === null ? NO_EVENT : outboxRow(event)),
      ]);
      if (event !== null) database.signalOutbox([outboxPartition(event.key)]);
      return rowCount > 0;
    },
    async sealedCertificate({ emissionId, attempt }) {
      const { rows } = await query<{ sealed: Buffer }>(sql.SEALED, [emissionId, attempt]);
      return rows[0]?.sealed ?? null;
    },
    async eraseCertificate({ env, issuerRnc, encf }) {
      await query(sql.ERASE_CERTIFICATE, [env, issuerRnc, encf]);
    },
    async notesOn(key): Promise<RelatedNote[]> {
      const { rows } = await query<{ encf: string; ecf_type: string; state: EmissionState; total_amount: string }>(
        sql.NOTES_ON,
        [documentKey(key)],
      );
      return rows.map((row) => ({
        encf: row.encf,
        ecfType: row.ecf_type,
        state: row.state,
        totalAmount: row.total_amount,
      }));
    },
  };
}

/** A row of LOOK. The columns of the attempt are null if the number is cancelled and was never issued. */
type LookRow = (AttemptRow | { emission_id: null }) & { cancelled_by: number | null };

/** In place of an event, for a change that is not published. */
const NO_EVENT = [null, null, null, null, null];
