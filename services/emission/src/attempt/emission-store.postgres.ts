import { EMISSION_STATES, type EmissionState } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { actEvents } from '@ecf/service-kit/outbox';
import { type Database, isUniqueViolation, type Statement } from '@ecf/service-kit/postgres';
import type { Drawn, EmissionStore, KeyBinding, RelatedNote } from '../ports.js';
import { ACTS } from '../published/changed-events.js';
import { retryWhileUnavailable } from '../retry-while-unavailable.postgres.js';
import { createAttemptSchedule } from '../sending/attempt-schedule.postgres.js';
import { type Attempt, type DocumentKey, documentKey } from './attempt.js';
import { exchangeRow } from './emission-rows.postgres.js';
import * as sql from './emission-sql.postgres.js';
import { createEmissionStatements } from './emission-statements.postgres.js';
import { submissionHistory } from './submission-history.postgres.js';
import { changesPublished } from './transitions.js';

export interface PostgresEmissionStoreOptions {
  readonly database: Database;
  /** The event that publishes an attempt's present state. */
  readonly describe: (attempt: Attempt) => BusEvent;
  /** Milliseconds that a call waits for a database that cannot be reached. */
  readonly timeoutMs: number;
}

/**
 * Emissions in PostgreSQL. A change is one statement that also writes its event. Each call waits on its own for an
 * unavailable database.
 */
export function createPostgresEmissionStore({
  database,
  describe,
  timeoutMs,
}: PostgresEmissionStoreOptions): EmissionStore {
  const statements = createEmissionStatements(database);

  function retry<T>(work: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(timeoutMs, work);
  }

  function query<R>(statement: Statement, params: readonly unknown[]) {
    return retry(() => database.query<R>(statement, params));
  }

  const find = (key: DocumentKey) => retry(() => statements.find(key));

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
    nextId: () => retry(statements.nextId),
    find,
    look: (key) => retry(() => statements.look(key)),
    async begin(attempt, sealedCertificate, files, notesFound = null, binding = null) {
      const beginning = { attempt, event: describe(attempt), sealedCertificate, files, notesFound, binding };
      const begin = beginWith(statements, binding);
      let tries = 0;
      const begun = await retry(() => {
        tries += 1;
        return begin(beginning);
      }).catch((error) => {
        // Another call used the key meanwhile.
        if (binding !== null && isUniqueViolation(error, 'submission_key_pkey')) return false;
        throw error;
      });
      // If the answer to the first commit was lost, the repeated statement finds the number taken by itself.
      return begun || (tries > 1 && (await isStored(attempt)));
    },
    submissionHistory: (attempt) => retry(() => submissionHistory(database, attempt)),
    save(before, after, exchanges, act = null) {
      const event = changesPublished(before, after) ? describe(after) : null;
      const save = EMISSION_STATES[after.state].decided ? statements.saveDecided : statements.save;
      const [acted = null] = actEvents(ACTS, act);
      return retry(() => save({ before, after, event, acted, exchanges }));
    },
    async keepExchanges(attempt, exchanges) {
      const rows = exchanges.map((one) => ({ ...exchangeRow(attempt, one), attempt: attempt.attempt }));
      await query(sql.KEEP_EXCHANGES, [JSON.stringify(rows)]);
    },
    async sealedCertificate({ emissionId, attempt }) {
      const { rows } = await query<{ sealed: Buffer }>(sql.SEALED, [emissionId, attempt]);
      return rows[0]?.sealed ?? null;
    },
    async eraseCertificate({ env, issuerRnc, encf, run }) {
      await query(sql.ERASE_CERTIFICATE, [env, issuerRnc, encf, run ?? null]);
    },
    async notesOn(key) {
      const { rows } = await query<RelatedNoteRow>(sql.NOTES_ON, [documentKey(key)]);
      const notes: RelatedNote[] = rows
        .filter(({ latest }) => latest)
        .map((row) => ({
          encf: row.encf,
          ecfType: row.ecf_type,
          state: row.state,
          totalAmount: row.total_amount,
        }));
      return { notes, attempts: rows.length };
    },
    async otherIssuer({ accountId, taxpayers = null }, { env, issuerRnc, encf }) {
      const values = [env, issuerRnc, encf, accountId, taxpayers];
      return (await query<{ issuer_rnc: string }>(sql.OTHER_ISSUER, values)).rows[0]?.issuer_rnc ?? null;
    },
  };
}

function beginWith(
  { begin, beginKeyed, beginDrawn }: Statements,
  binding: KeyBinding | Drawn | null,
): Statements['begin'] {
  if (binding === null) return begin;
  return 'token' in binding ? beginDrawn : beginKeyed;
}

type Statements = ReturnType<typeof createEmissionStatements>;

/** An attempt of a note. */
interface RelatedNoteRow {
  encf: string;
  ecf_type: string;
  state: EmissionState;
  total_amount: string;
  /** It is the latest one of its number. */
  latest: boolean;
}
