import { camelCaseRows, type Database } from '@ecf/postgres';
import { ATTEMPT_COLUMNS, attemptsOf, submissionHistory, UNDECIDED } from '../attempt/emission.postgres.js';
import type { PublishedDocuments } from './published-documents.js';

/** The latest attempts of several numbers, as lists. A run that is null is the present one. */
const FIND = {
  name: 'emission_find_several',
  text: `SELECT ${ATTEMPT_COLUMNS}
    FROM (SELECT stored_environment($1, n.issuer_rnc, n.run) AS env, n.issuer_rnc, n.encf
      FROM unnest($2::text[], $3::text[], $4::int[]) AS n(issuer_rnc, encf, run) OFFSET 0) AS k
    JOIN emission e ON e.env = k.env AND e.issuer_rnc = k.issuer_rnc AND e.encf = k.encf
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt`,
};

/** The latest attempt of the number that an attempt with this trackId belongs to. */
const FIND_SUBMISSION = {
  name: 'emission_find_submission',
  text: `SELECT ${ATTEMPT_COLUMNS}
    FROM attempt t JOIN emission e ON e.id = t.emission_id AND environment_of(e.env) = $1
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
    WHERE t.track_id = $2 ORDER BY t.attempt DESC LIMIT 1`,
};

/** Latest attempts in the order of their emissions' ids; none for a number whose month is detached. */
const PAGE = {
  name: 'emission_page',
  text: `SELECT e.id AS number_id, ${ATTEMPT_COLUMNS}
    FROM (SELECT * FROM emission WHERE id > $1 ORDER BY id LIMIT $2) e
    LEFT JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt ORDER BY e.id`,
};

/**
 * Documents that the authority has to decide, in the order of their ids. A page reads only its own rows of the partial
 * index, however many documents wait.
 */
export const PAGE_OF_AWAITED = {
  name: 'emission_page_of_awaited',
  text: `WITH page AS MATERIALIZED (
      SELECT emission_id, attempt FROM attempt WHERE ${UNDECIDED} AND emission_id > $1 ORDER BY emission_id LIMIT $2)
    SELECT ${ATTEMPT_COLUMNS}
    FROM page JOIN attempt a USING (emission_id, attempt)
    JOIN emission e ON e.id = a.emission_id AND e.attempt = a.attempt ORDER BY e.id`,
};

/** Documents with an alarm, in the order of their ids. */
const ALARMED = {
  name: 'emission_alarmed',
  text: `SELECT ${ATTEMPT_COLUMNS}
    FROM attempt a JOIN emission e ON e.id = a.emission_id AND e.attempt = a.attempt
    WHERE a.alarm IS NOT NULL AND ($1::text IS NULL OR environment_of(e.env) = $1)
      AND ($2::text IS NULL OR e.issuer_rnc = $2) AND e.id > $3 ORDER BY e.id LIMIT $4`,
};

const EXCHANGES = {
  name: 'emission_exchanges',
  text: `SELECT x.attempt, x.operation, x.at, x.outcome, x.http_status, x.content_type, x.body
    FROM exchange x JOIN emission e ON e.id = x.emission_id
    WHERE e.env = stored_environment($1, $2, $4) AND e.issuer_rnc = $2 AND e.encf = $3 ORDER BY x.id`,
};

type StoredExchange = Awaited<ReturnType<PublishedDocuments['exchanges']>>[number];

export function createPostgresPublishedDocuments(database: Database): PublishedDocuments {
  return {
    async find(env, numbers) {
      const { rows } = await database.query(FIND, [
        env,
        numbers.map(({ issuerRnc }) => issuerRnc),
        numbers.map(({ encf }) => encf),
        numbers.map(({ run }) => run ?? null),
      ]);
      return attemptsOf(rows);
    },
    async findSubmission(env, trackId) {
      const { rows } = await database.query(FIND_SUBMISSION, [env, trackId]);
      return attemptsOf(rows)[0] ?? null;
    },
    submissionHistory: (attempt) => submissionHistory(database, attempt),
    async page(after, limit) {
      const { rows } = await database.query<{ number_id: number; emission_id: number | null }>(PAGE, [after, limit]);
      const last = rows.length < limit ? undefined : rows.at(-1);
      const attached = rows.filter(({ emission_id }) => emission_id !== null);
      return { attempts: attemptsOf(attached.map(({ number_id, ...row }) => row)), next: last?.number_id ?? null };
    },
    async awaited(after, limit) {
      const { rows } = await database.query(PAGE_OF_AWAITED, [after, limit]);
      return attemptsOf(rows);
    },
    async exchanges({ env, issuerRnc, encf, run }) {
      const { rows } = await database.query(EXCHANGES, [env, issuerRnc, encf, run ?? null]);
      return camelCaseRows<StoredExchange>(rows);
    },
    async alarmed({ env, issuerRnc }, after, limit) {
      return attemptsOf((await database.query(ALARMED, [env, issuerRnc, after, limit])).rows);
    },
  };
}
