import { type PendingDocument, pendingColumns } from '@ecf/archive';
import { type BusEvent, outboxColumns } from '@ecf/bus';
import { actEvents } from '@ecf/bus/events';
import { EMISSION_STATES, type EmissionState, environmentRun, storedEnvironment, toIsoDominican } from '@ecf/domain';
import {
  camelCaseRows,
  createIds,
  createSharedCalls,
  type Database,
  isUniqueViolation,
  nextIdOf,
  type Queries,
  type Statement,
  snakeCaseRow,
} from '@ecf/postgres';
import type { Selectable } from 'kysely';
import { retryWhileUnavailable } from '../errors.postgres.js';
import type { DB } from '../generated/tables.js';
import type { Drawn, KeyBinding } from '../numbers/ports.js';
import { ACTS } from '../published/changed-events.js';
import { type AlarmKind, type Attempt, type DocumentKey, documentKey, type PastSubmission } from './attempt.js';
import type { EmissionStore, RecordedExchange, RelatedNote } from './ports.js';
import { copiesOf, isHistoryComplete } from './submission-history.js';
import { changesPublished } from './transitions.js';

/** Columns of `attempt` that a state transition may change. */
const CHANGING = [
  ...['revision', 'state', 'has_own_certificate', 'track_id', 'track_id_adopted', 'status_revision', 'verdict'],
  ...['submitted_at', 'lost_sends', 'transient_refusals', 'not_found_since', 'failures', 'next_action_at', 'owner'],
  ...['alarm', 'past', 'queued_at', 'deadline'],
];

/** The columns of an attempt `a` and its emission `e`, for {@link attemptsOf}. */
export const ATTEMPT_COLUMNS = `e.env, e.issuer_rnc, e.encf, e.account_id, e.ecf_type, e.created_at, a.emission_id, a.attempt,
  a.source, a.route, a.content_hash, a.facts, a.xml_path, a.xml_sha256, a.rfce_path, a.rfce_sha256, a.signed_at, a.committed_at,
  a.signer_fingerprint, a.modifies, a.modified_attempt, a.submitted_by, a.request_id, a.own_reference, a.batch_line,
  a.contingency_since, ${CHANGING.map((column) => `a.${column}`).join(', ')}`;

/** A row with {@link ATTEMPT_COLUMNS}, in camel case. */
export type AttemptRow = Omit<Selectable<DB['emission']>, 'id' | 'attempt'> & Selectable<DB['attempt']>;

export function attemptOf({ env, xmlPath, xmlSha256, rfcePath, rfceSha256, ...fields }: AttemptRow): Attempt {
  return {
    ...environmentRun(env),
    xml: { path: xmlPath, sha256: xmlSha256 },
    rfce: rfcePath === null ? null : { path: rfcePath, sha256: rfceSha256 },
    ...fields,
  } as Attempt;
}

/** The attempts of rows with {@link ATTEMPT_COLUMNS}. */
export function attemptsOf(rows: readonly object[]): Attempt[] {
  return camelCaseRows<AttemptRow>(rows).map(attemptOf);
}

/** A new attempt and its emission. The statements ignore what their tables do not have. */
function newRow(attempt: Attempt): object {
  const { emissionId, xml, rfce } = attempt;
  const files = { xmlPath: xml.path, xmlSha256: xml.sha256, rfcePath: rfce?.path, rfceSha256: rfce?.sha256 };
  return snakeCaseRow({ ...attempt, ...files, id: emissionId, env: storedEnvironment(attempt) });
}

/** What a state transition may change. */
function changedRow({ facts: _, ...attempt }: Attempt): object {
  return snakeCaseRow(attempt);
}

function exchangeRow({ emissionId, attempt }: Attempt, { body, ...exchange }: RecordedExchange): object {
  // Text of the network may hold what PostgreSQL's text cannot: NUL, and halves of surrogate pairs.
  const text = body === null ? null : Buffer.from(body).toString('utf8').replaceAll('\0', '\ufffd');
  return snakeCaseRow({ emissionId, attempt, ...exchange, body: text });
}

/** The latest attempt of a number. A run that is null is the present one. */
const FIND = {
  name: 'emission_find',
  text: `SELECT ${ATTEMPT_COLUMNS} FROM emission e JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
    WHERE e.env = stored_environment($1, $2, $4) AND e.issuer_rnc = $2 AND e.encf = $3`,
};

/**
 * One row with the latest attempt of a number and the cancellation that covers it. Cancelled ranges never overlap, so the one that
 * begins last at or before the number decides. OFFSET keeps the sub-select, so that its function is called once.
 */
const FIND_NUMBER = {
  name: 'emission_find_number',
  text: `SELECT k.env AS stored_env, c.cancellation_id AS cancelled_by, e.id IS NOT NULL AND a.emission_id IS NULL AS is_detached, ${ATTEMPT_COLUMNS}
    FROM (SELECT stored_environment($1, $2, $4) AS env OFFSET 0) k
    LEFT JOIN emission e ON e.env = k.env AND e.issuer_rnc = $2 AND e.encf = $3
    LEFT JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
    LEFT JOIN LATERAL (
      SELECT cancellation_id, last_number FROM cancelled_range r
      WHERE r.env = k.env AND r.issuer_rnc = $2 AND r.ecf_type = substr($3, 2, 2)
        AND r.first_number <= substr($3, 4)::bigint
      ORDER BY first_number DESC LIMIT 1) c ON c.last_number >= substr($3, 4)::bigint`,
};

/** $1: how many ids. */
const NEXT_IDS = {
  name: 'emission_next_ids',
  text: `SELECT ${nextIdOf('emission_id_seq')} AS id FROM generate_series(1, $1::int)`,
};

/** Events of several attempts, from the parameter `first` on; `id` is the emission. */
const eventsFrom = (first: number) =>
  `ROWS FROM (unnest($${first}::bigint[], $${first + 1}::uuid[], $${first + 2}::text[], $${first + 3}::text[]),
        json_array_elements($${first + 4}::json)) AS x(id, event_id, topic, key, event)`;

/**
 * New attempts with everything that is committed with them. A first attempt takes its number, a later one must follow
 * the latest. A trigger of `emission` skips a cancelled number, and `is_next_note` a credit note that has to be checked
 * again. No row is written for a number that is not taken. Numbers are taken in ascending order, so that two statements
 * wait for each other in one direction only.
 */
const begin = ({ first = '', condition = '', last = '' }) => `WITH ${first} taken AS (
      INSERT INTO emission
      SELECT r.* FROM json_populate_recordset(NULL::emission, $1::json) r ${condition}
      LEFT JOIN unnest($13::bigint[], $14::text[], $15::int[]) AS note(id, document, notes) USING (id)
      WHERE note.id IS NULL OR is_next_note(note.document, note.notes) ORDER BY r.env, r.issuer_rnc, r.encf
      ON CONFLICT (env, issuer_rnc, encf) DO UPDATE SET attempt = EXCLUDED.attempt
        WHERE emission.attempt = EXCLUDED.attempt - 1
      RETURNING *),
    begun AS (
      INSERT INTO attempt
      SELECT r.* FROM json_populate_recordset(NULL::attempt, $1::json) r JOIN taken t ON t.id = r.emission_id),
    certificate AS (
      INSERT INTO sealed_certificate (emission_id, attempt, sealed)
      SELECT t.id, t.attempt, c.sealed FROM unnest($2::bigint[], $3::bytea[]) AS c(id, sealed) JOIN taken t USING (id)),
    stored AS (
      INSERT INTO pending_document (path, sha256, bytes)
      SELECT d.path, d.sha256, d.bytes
      FROM unnest($9::bigint[], $10::text[], $11::text[], $12::bytea[]) AS d(id, path, sha256, bytes) JOIN taken t USING (id)
      ON CONFLICT (path, sha256) DO NOTHING),
    published AS (
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT x.event_id, x.topic, x.key, x.event FROM ${eventsFrom(4)} JOIN taken t USING (id))
    ${last}
    SELECT id FROM taken`;

const BEGIN = { name: 'emission_begin', text: begin({}) };

/** Binds idempotency keys to the attempts. */
const bound = (keys: string) => `, bound AS (
      INSERT INTO submission_key (account_id, env, idempotency_key, content_hash, emission_id, attempt)
      SELECT t.account_id, t.env, d.key, d.content_hash, t.id, t.attempt FROM ${keys} JOIN taken t USING (id))`;

/** As {@link BEGIN}, for documents that state their number and have an idempotency key ($16 to $18). */
const BEGIN_KEYED = {
  name: 'emission_begin_keyed',
  text: begin({ last: bound('unnest($16::bigint[], $17::text[], $18::text[]) AS d(id, key, content_hash)') }),
};

const DRAWS = 'unnest($16::bigint[], $17::text[], $18::text[], $19::uuid[]) AS d(id, key, content_hash, token)';

/** As {@link BEGIN}, for documents whose numbers were drawn ($16 to $19). The reservation becomes the idempotency key. */
const BEGIN_DRAWN = {
  name: 'emission_begin_drawn',
  text: begin({
    first: `reserved AS MATERIALIZED (
      SELECT d.id FROM ${DRAWS} JOIN reserved_number n ON n.token = d.token FOR UPDATE OF n),`,
    condition: 'JOIN reserved USING (id)',
    last: `, used AS (
      DELETE FROM reserved_number n USING ${DRAWS} JOIN taken t USING (id) WHERE n.token = d.token)${bound(DRAWS)}`,
  }),
};

/**
 * Stores attempts after a state transition ($1), unless their revision changed meanwhile ($8, $9). Also stores the answers
 * of the authority ($2), and the events of published changes ($3 to $7).
 */
const SAVED = `WITH saved AS (
      UPDATE attempt a SET ${CHANGING.filter((column) => column !== 'deadline')
        .map((column) => `${column} = r.${column}`)
        .join(', ')}, deadline = coalesce(a.deadline, r.deadline)
      FROM json_populate_recordset(NULL::attempt, $1::json) r
      JOIN unnest($8::bigint[], $9::int[]) AS before(emission_id, revision) USING (emission_id)
      WHERE a.emission_id = r.emission_id AND a.attempt = r.attempt AND a.revision = before.revision
      RETURNING a.emission_id, a.attempt, a.has_own_certificate),
    answered AS (
      INSERT INTO exchange (emission_id, attempt, operation, at, outcome, http_status, content_type, body)
      SELECT s.emission_id, s.attempt, x.operation, x.at, x.outcome, x.http_status, x.content_type, x.body
      FROM json_populate_recordset(NULL::exchange, $2::json) x JOIN saved s USING (emission_id)),
    published AS (
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT x.event_id, x.topic, x.key, x.event FROM ${eventsFrom(3)}
      JOIN saved s ON s.emission_id = x.id)`;

/** Attempts that are not decided yet. */
const SAVE = { name: 'emission_save', text: `${SAVED} SELECT emission_id FROM saved` };

/**
 * Decided attempts: the certificate that came with one is erased unless the delivery needs it, and notes that wait for it become
 * due. The revision of such a note is raised, so that a concurrent check that found the document undecided cannot postpone it.
 */
const SAVE_DECIDED = {
  name: 'emission_save_decided',
  text: `${SAVED},
    erased AS (
      DELETE FROM sealed_certificate c USING saved s
      WHERE c.emission_id = s.emission_id AND c.attempt = s.attempt AND NOT s.has_own_certificate),
    released AS (
      UPDATE attempt note SET next_action_at = now(), revision = note.revision + 1
      FROM saved s JOIN emission e ON e.id = s.emission_id
      WHERE note.modifies = e.env || ':' || e.issuer_rnc || ':' || e.encf AND note.state = 'held')
    SELECT emission_id FROM saved`,
};

const KEEP_EXCHANGES = {
  name: 'emission_keep_exchanges',
  text: `INSERT INTO exchange (emission_id, attempt, operation, at, outcome, http_status, content_type, body)
    SELECT emission_id, attempt, operation, at, outcome, http_status, content_type, body
    FROM json_populate_recordset(NULL::exchange, $1::json)`,
};

/** Leases due attempts, earliest first. Rows that another instance is claiming are passed over. */
const CLAIM_DUE = {
  name: 'emission_claim_due',
  text: `WITH due AS (
      SELECT emission_id, attempt, next_action_at AS due_at FROM attempt WHERE next_action_at <= $1
      ORDER BY next_action_at LIMIT $2 FOR UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE attempt a SET owner = $3, next_action_at = $4, revision = a.revision + 1
      FROM due WHERE a.emission_id = due.emission_id AND a.attempt = due.attempt
      RETURNING a.*, due.due_at)
    SELECT ${ATTEMPT_COLUMNS}
    FROM claimed a JOIN emission e ON e.id = a.emission_id ORDER BY a.due_at`,
};

const SEALED = {
  name: 'emission_sealed_certificate',
  text: 'SELECT sealed FROM sealed_certificate WHERE emission_id = $1 AND attempt = $2',
};

/** The delivery of an accepted document has ended, so no login uses its certificate any more. */
const ERASE_CERTIFICATE = {
  name: 'emission_erase_certificate',
  text: `WITH erased AS (
      DELETE FROM sealed_certificate s USING emission e
      WHERE e.env = stored_environment($1, $2, $4) AND e.issuer_rnc = $2 AND e.encf = $3 AND s.emission_id = e.id RETURNING s.emission_id, s.attempt)
    UPDATE attempt a SET has_own_certificate = false FROM erased
    WHERE a.emission_id = erased.emission_id AND a.attempt = erased.attempt`,
};

const NOTES_ON = {
  name: 'emission_notes_on',
  text: `SELECT e.encf, e.ecf_type, a.state, a.facts->'summary'->>'total_amount' AS total_amount, e.attempt = a.attempt AS latest
    FROM attempt a JOIN emission e ON e.id = a.emission_id WHERE a.modifies = $1`,
};

/** Looks each taxpayer of the account up by the key of the emission. */
const OTHER_ISSUER = {
  name: 'emission_other_issuer',
  text: `SELECT e.issuer_rnc FROM taxpayers t JOIN emission e ON e.env = stored_environment($1, t.rnc, NULL) AND e.issuer_rnc = t.rnc AND e.encf = $3
    WHERE t.account_id = $4 AND e.account_id = $4 AND t.rnc <> $2 AND ($5::text[] IS NULL OR t.rnc = ANY ($5)) LIMIT 1`,
};

/**
 * Makes attempts due that wait for a certificate, and late ones, which may wait for one. Attempts in flight do not
 * change. The raised revision prevents a concurrent check, which found no certificate, from postponing them.
 */
const RESUME = {
  name: 'emission_resume',
  text: `UPDATE attempt a SET next_action_at = now(), revision = a.revision + 1 FROM emission e
    WHERE a.alarm IN ('no-certificate', 'overdue', 'contingency-late') AND a.next_action_at IS NOT NULL AND a.state NOT IN ('sending', 'resending') AND e.id = a.emission_id AND e.issuer_rnc = $1`,
};

/** Documents that the authority has to decide; a partial index has this very condition. */
export const UNDECIDED = "state IN ('processing', 'not-found')";

export const BACKLOG = {
  name: 'emission_backlog',
  text: `SELECT state, alarm, count(*)::int AS count, min(committed_at) AS oldest FROM attempt
    WHERE next_action_at IS NOT NULL OR alarm IS NOT NULL OR queued_at IS NOT NULL OR ${UNDECIDED} GROUP BY state, alarm`,
};

/** Attempts of an emission ($1) before attempt $2, each with its own earlier copies. */
const EARLIER = {
  name: 'emission_earlier_attempts',
  text: `SELECT t.attempt, t.state, t.track_id, t.verdict, t.submitted_at, t.facts ->> 'securityCode' AS security_code, (
      SELECT coalesce(json_agg(p.entry ORDER BY p.position), '[]') FROM json_array_elements(t.past) WITH ORDINALITY AS p(entry, position)
       WHERE (p.entry ->> 'attempt')::int = t.attempt) AS past
    FROM attempt t WHERE t.emission_id = $1 AND t.attempt < $2 ORDER BY t.attempt`,
};

/** A new attempt with everything that is committed with it. */
interface NewAttemptCommit {
  readonly attempt: Attempt;
  readonly event: BusEvent;
  readonly sealedCertificate: Uint8Array | null;
  readonly files: readonly PendingDocument[];
  readonly notesFound: number | null;
  readonly binding: Drawn | KeyBinding | null;
}

/** An attempt after a transition, with the answers that caused it, its event if the change is published, and acts of a person. */
interface Change {
  readonly before: Attempt;
  readonly after: Attempt;
  readonly events: readonly BusEvent[];
  readonly exchanges: readonly RecordedExchange[];
}

/** Calls that arrive while statements run share the next statement, its round trip and its commit. */
const SHARED = { maxItems: 64, maxInFlight: 2 };

/**
 * Emissions in PostgreSQL. A change is one statement that also writes its event. Each call waits on its own for an unavailable
 * database. Calls of the background do not, because they are repeated anyway.
 *
 * @param describe the event that publishes an attempt's present state
 * @param timeoutMs milliseconds that a call waits for a database that cannot be reached
 */
export function createPostgresEmissionStore({
  database,
  describe,
  timeoutMs,
}: {
  readonly database: Database;
  readonly describe: (attempt: Attempt) => BusEvent;
  readonly timeoutMs: number;
}): EmissionStore {
  const retry = <T>(work: () => Promise<T>) => retryWhileUnavailable(timeoutMs, work);
  const query = <R = object>(statement: Statement, params: readonly unknown[]) =>
    retry(() => database.query<R>(statement, params));
  const nextId = createIds(async (count) =>
    (await database.query<{ id: number }>(NEXT_IDS, [count])).rows.map(({ id }) => id),
  );
  const commits = { plain: commitsBy(BEGIN), keyed: commitsBy(BEGIN_KEYED), drawn: commitsBy(BEGIN_DRAWN) };
  const changes = { open: changesBy(SAVE), decided: changesBy(SAVE_DECIDED) };

  function commitsBy(statement: Statement) {
    return createSharedCalls<NewAttemptCommit, boolean>({
      ...SHARED,
      keyOf: ({ attempt }) => documentKey(attempt),
      async work(items) {
        const { rows } = await database.query<{ id: number }>(statement, commitColumns(items, statement));
        signal(items.map(({ event }) => event));
        const begun = new Set(rows.map(({ id }) => id));
        return items.map(({ attempt }) => begun.has(attempt.emissionId));
      },
    });
  }

  function changesBy(statement: Statement) {
    return createSharedCalls<Change, boolean>({
      ...SHARED,
      keyOf: ({ after }) => after.emissionId,
      async work(items) {
        const { rows } = await database.query<{ emission_id: number }>(statement, [
          JSON.stringify(items.map(({ after }) => changedRow(after))),
          JSON.stringify(items.flatMap(({ after, exchanges }) => exchanges.map((one) => exchangeRow(after, one)))),
          ...eventColumns(
            items.flatMap(({ after, events }) => events.map((event) => ({ id: after.emissionId, event }))),
          ),
          items.map(({ before }) => before.emissionId),
          items.map(({ before }) => before.revision),
        ]);
        signal(items.flatMap(({ events }) => events));
        const saved = new Set(rows.map(({ emission_id }) => emission_id));
        return items.map(({ after }) => saved.has(after.emissionId));
      },
    });
  }

  function signal(events: readonly BusEvent[]): void {
    if (events.length > 0) database.signalOutbox();
  }

  async function find(key: DocumentKey): Promise<Attempt | null> {
    return attemptsOf((await query(FIND, numberOf(key))).rows)[0] ?? null;
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
    nextId: () => retry(nextId),
    find,
    async findNumber(key) {
      const { rows } = await query(FIND_NUMBER, numberOf(key));
      const [{ storedEnv, cancelledBy, isDetached, ...row }] = camelCaseRows<NumberRow>(rows) as [NumberRow];
      const attempt = row.emissionId === null ? null : attemptOf(row as AttemptRow);
      return { attempt, isDetached, cancelledBy, run: environmentRun(storedEnv).run };
    },
    async begin(attempt, sealedCertificate, files, notesFound = null, binding = null) {
      const commit = { attempt, event: describe(attempt), sealedCertificate, files, notesFound, binding };
      const calls = commits[binding === null ? 'plain' : 'token' in binding ? 'drawn' : 'keyed'];
      let tries = 0;
      const begun = await retry(() => {
        tries += 1;
        return calls.run(commit);
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
      const events = [...(changesPublished(before, after) ? [describe(after)] : []), ...actEvents(ACTS, act)];
      const calls = changes[EMISSION_STATES[after.state].decided ? 'decided' : 'open'];
      return retry(() => calls.run({ before, after, events, exchanges }));
    },
    async keepExchanges(attempt, exchanges) {
      await query(KEEP_EXCHANGES, [JSON.stringify(exchanges.map((one) => exchangeRow(attempt, one)))]);
    },
    async sealedCertificate({ emissionId, attempt }) {
      return (await query<{ sealed: Buffer }>(SEALED, [emissionId, attempt])).rows[0]?.sealed ?? null;
    },
    async eraseCertificate(key) {
      await query(ERASE_CERTIFICATE, numberOf(key));
    },
    async notesOn(key) {
      const { rows } = await query(NOTES_ON, [documentKey(key)]);
      const found = camelCaseRows<RelatedNote & { latest: boolean }>(rows);
      const notes = found.filter(({ latest }) => latest).map(({ latest: _, ...note }) => note);
      return { notes, attempts: rows.length };
    },
    async otherIssuer({ accountId, taxpayers = null }, { env, issuerRnc, encf }) {
      const values = [env, issuerRnc, encf, accountId, taxpayers];
      return (await query<{ issuer_rnc: string }>(OTHER_ISSUER, values)).rows[0]?.issuer_rnc ?? null;
    },
    async claimDue({ now, until, owner, limit }) {
      return attemptsOf((await database.query(CLAIM_DUE, [now, limit, owner, until])).rows);
    },
    async resume(issuerRnc) {
      await database.query(RESUME, [issuerRnc]);
    },
    async backlog() {
      const { rows } = await database.query<BacklogRow>(BACKLOG);
      const undecided = new Map<EmissionState, number>();
      const alarms = new Map<AlarmKind, number>();
      for (const { state, alarm, count } of rows) {
        undecided.set(state, (undecided.get(state) ?? 0) + count);
        if (alarm !== null) alarms.set(alarm, (alarms.get(alarm) ?? 0) + count);
      }
      return {
        undecided: [...undecided].map(([state, count]) => ({ state, count })),
        alarms: [...alarms].map(([kind, count]) => ({ kind, count })),
        oldestCommittedAt: rows.length === 0 ? null : new Date(Math.min(...rows.map(({ oldest }) => oldest.getTime()))),
      };
    },
  };
}

/** The submission history of the number, oldest first, also the entries that are not kept with the attempt. */
export async function submissionHistory(queries: Queries, attempt: Attempt): Promise<readonly PastSubmission[]> {
  if (isHistoryComplete(attempt.past)) return attempt.past;
  const { rows } = await queries.query(EARLIER, [attempt.emissionId, attempt.attempt]);
  const earlier = camelCaseRows<EarlierRow>(rows);
  return [...earlier.flatMap((row) => [...copiesOf(row), submissionOf(row)]), ...copiesOf(attempt)];
}

function submissionOf({ verdict, submittedAt, past: _, ...row }: EarlierRow): PastSubmission {
  return { ...verdict, ...row, submittedAt: submittedAt === null ? null : toIsoDominican(submittedAt) };
}

/** The parameters of {@link BEGIN}, {@link BEGIN_KEYED} or {@link BEGIN_DRAWN}. */
function commitColumns(items: readonly NewAttemptCommit[], statement: Statement): unknown[] {
  const ids = items.map(({ attempt }) => attempt.emissionId);
  const notes = items.filter(({ notesFound }) => notesFound !== null);
  const certificates = items.filter(({ sealedCertificate }) => sealedCertificate !== null);
  const keys = items.map(({ binding }) => binding?.idempotencyKey);
  const hashes = items.map(({ binding }) => binding?.contentHash);
  return [
    JSON.stringify(items.map(({ attempt }) => newRow(attempt))),
    certificates.map(({ attempt }) => attempt.emissionId),
    certificates.map(({ sealedCertificate }) => sealedCertificate),
    ...eventColumns(items.map(({ attempt, event }) => ({ id: attempt.emissionId, event }))),
    items.flatMap(({ attempt, files }) => files.map(() => attempt.emissionId)),
    ...pendingColumns(items.flatMap(({ files }) => files)),
    notes.map(({ attempt }) => attempt.emissionId),
    notes.map(({ attempt }) => attempt.modifies),
    notes.map(({ notesFound }) => notesFound),
    ...(statement === BEGIN ? [] : [ids, keys, hashes]),
    ...(statement === BEGIN_DRAWN ? [items.map(({ binding }) => (binding as Drawn).token)] : []),
  ];
}

/** The emissions of events, and the events as {@link outboxColumns}. */
function eventColumns(all: readonly { id: number; event: BusEvent }[]): unknown[] {
  return [all.map(({ id }) => id), ...outboxColumns(all.map(({ event }) => event))];
}

/** The parameters of {@link FIND} and {@link FIND_NUMBER}. */
function numberOf({ env, issuerRnc, encf, run }: DocumentKey): unknown[] {
  return [env, issuerRnc, encf, run ?? null];
}

/** A row of {@link FIND_NUMBER}. The columns of the attempt are null if the number has no attempt. */
type NumberRow = (AttemptRow | { emissionId: null }) & {
  storedEnv: string;
  cancelledBy: number | null;
  isDetached: boolean;
};

interface BacklogRow {
  state: EmissionState;
  alarm: AlarmKind | null;
  count: number;
  oldest: Date;
}

interface EarlierRow extends Pick<PastSubmission, 'attempt' | 'state' | 'trackId'> {
  verdict: Attempt['verdict'];
  submittedAt: Date | null;
  securityCode: string;
  past: PastSubmission[];
}
