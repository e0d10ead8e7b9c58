import { randomUUID } from 'node:crypto';
import { appendToOutbox, type BusEvent } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { type CertificateNotice, type NumberRange, type RangeNotice, TOPICS } from '@ecf/contracts';
import { type Environment, toCalendarDate, toIsoDominican } from '@ecf/domain';
import { type Database, rowsOf } from '@ecf/postgres';

/** Notices are published 30 days before a range or a certificate ends. */
const BEFORE = "interval '30 days'";

/** Active taxpayers, or $1 alone. */
const TAXPAYERS = `SELECT rnc, state, state->>'account_id' AS account_id FROM taxpayers
    WHERE (state->>'active')::boolean AND (state->>'account_active')::boolean AND ($1::text IS NULL OR rnc = $1)`;

/** Their ranges that are open on day $2. A range is low when 10 % or 1,000 of its numbers are left, whichever is less. */
const RANGES = `SELECT t.rnc, t.account_id, r.value AS range, r.value->>'env' AS env, r.value->>'ecf_type' AS ecf_type,
      stored_environment(r.value->>'env', t.rnc, NULL) AS stored, r.value->>'from' AS first_encf, r.value->>'to' AS last_encf,
      (r.value->>'expires')::date AS expires, n.first, n.last, least((n.last - n.first + 1) / 10, 1000) AS low
    FROM taxpayer t CROSS JOIN LATERAL json_array_elements(t.state->'ranges') AS r
    CROSS JOIN LATERAL (SELECT substr(r.value->>'from', 4)::bigint AS first, substr(r.value->>'to', 4)::bigint AS last) n
    WHERE coalesce((r.value->>'expires')::date >= $2::date, true)`;

/**
 * One of the last numbers of range `r` is used or cancelled, or automatic numbers have reached them. Otherwise the range cannot be
 * low, and its numbers, of which there may be ten million, are not counted.
 */
const NEAR_END = `(EXISTS (SELECT FROM emission e WHERE e.env = r.stored AND e.issuer_rnc = r.rnc
         AND e.encf BETWEEN encf_of(r.ecf_type, r.last - r.low) AND encf_of(r.ecf_type, r.last))
      OR EXISTS (SELECT FROM cancelled_range c WHERE c.env = r.stored AND c.issuer_rnc = r.rnc AND c.ecf_type = r.ecf_type
         AND c.first_number <= r.last AND c.last_number >= r.last - r.low)
      OR EXISTS (SELECT FROM number_position p WHERE p.env = r.stored AND p.issuer_rnc = r.rnc AND p.ecf_type = r.ecf_type
         AND p.first_number = r.first AND p.next_number > r.last - r.low))`;

const NUMBERS_LEFT = 'CROSS JOIN LATERAL numbers_left(r.stored, r.rnc, r.ecf_type, r.first, r.last) l';

/** Inserts the notices that are due at time $3, and returns the ones that are new. */
const PUBLISH = {
  name: 'notices_publish',
  text: `WITH taxpayer AS (${TAXPAYERS}), r AS MATERIALIZED (${RANGES}),
    due AS (
      SELECT rnc, account_id, 'range.low' AS type, env, first_encf AS of, last_encf AS cause, range AS subject, l.*
        FROM (SELECT * FROM r WHERE ${NEAR_END}) r ${NUMBERS_LEFT} WHERE l.remaining <= r.low
      UNION ALL
      SELECT rnc, account_id, 'range.expiring', env, first_encf, expires::text, range, l.*
        FROM (SELECT * FROM r WHERE expires <= $2::date + ${BEFORE}) r ${NUMBERS_LEFT}
      UNION ALL
      SELECT rnc, account_id, 'certificate.expiring', '', state->>'fingerprint', '', state->'certificate_facts', NULL, NULL
        FROM taxpayer WHERE (state->'certificate_facts'->>'not_after')::timestamptz BETWEEN $3 AND $3::timestamptz + ${BEFORE}),
    inserted AS (
      INSERT INTO notice (issuer_rnc, type, env, of, cause) SELECT rnc, type, env, of, cause FROM due
      ON CONFLICT DO NOTHING RETURNING *)
    SELECT due.rnc, due.account_id, due.type, due.subject, due.next_encf, due.remaining::int
      FROM due JOIN inserted i ON (i.issuer_rnc, i.type, i.env, i.of, i.cause) = (due.rnc, due.type, due.env, due.of, due.cause)
      ORDER BY due.rnc, due.type, due.of`,
};

const CERTIFICATES_ENDING = {
  name: 'notices_certificates_ending',
  text: `SELECT count(*)::int AS count FROM (${TAXPAYERS}) t
    WHERE (state->'certificate_facts'->>'not_after')::timestamptz <= $2::timestamptz + ${BEFORE}`,
};

const RANGES_ENDING = {
  name: 'notices_ranges_ending',
  text: `SELECT env, count(*)::int AS count FROM (
      SELECT t.rnc, r.value->>'env' AS env FROM (${TAXPAYERS}) t CROSS JOIN LATERAL json_array_elements(t.state->'ranges') AS r
       GROUP BY t.rnc, r.value->>'env', r.value->>'ecf_type'
       HAVING bool_and(coalesce((r.value->>'expires')::date <= $2::date + ${BEFORE}, false) OR EXISTS (
         SELECT FROM notice n WHERE n.issuer_rnc = t.rnc AND n.type = 'range.low' AND n.env = r.value->>'env'
           AND n.of = r.value->>'from' AND n.cause = r.value->>'to'))) AS ending
    GROUP BY env`,
};

/** Counts for operators: certificates and number ranges of active taxpayers that need action soon. */
export interface EndsBacklog {
  /** Taxpayers whose stored certificate ends within 30 days, or has ended. */
  readonly certificates: number;
  /** Types of e-CF of taxpayers, by environment, of which every registered range is low, ends within 30 days or has ended. */
  readonly ranges: readonly { readonly env: Environment; readonly count: number }[];
}

export interface Notices {
  /**
   * Publishes the notices that are due, of all taxpayers or of one. All instances together publish each once: `range.low` for each last
   * number of a range, `range.expiring` for each day of expiry, `certificate.expiring` for each certificate.
   */
  publish(rnc: string | null, now: Date): Promise<void>;
  backlog(now: Date): Promise<EndsBacklog>;
}

export function createNotices(database: Database): Notices {
  return {
    publish: (rnc, now) =>
      database.transaction(async (tx) => {
        const due = await rowsOf<DueNotice>(tx, PUBLISH, [rnc, toCalendarDate(now), now]);
        const events = due.map((notice) => eventOf(notice, now));
        await appendToOutbox(tx, events);
      }),
    async backlog(now) {
      const { rows } = await database.query<{ count: number }>(CERTIFICATES_ENDING, [null, now]);
      const today = toCalendarDate(now);
      const ranges = await database.query<{ env: Environment; count: number }>(RANGES_ENDING, [null, today]);
      return { certificates: rows[0]?.count ?? 0, ranges: ranges.rows };
    },
  };
}

interface DueNotice {
  readonly rnc: string;
  readonly accountId: string;
  readonly type: 'range.low' | 'range.expiring' | 'certificate.expiring';
  /** The range, or the facts of the certificate. */
  readonly subject: object;
  readonly nextEncf: string | null;
  readonly remaining: number | null;
}

function eventOf({ rnc, accountId, type, subject, nextEncf, remaining }: DueNotice, now: Date): BusEvent {
  const holder = { issuer_rnc: rnc, account_id: accountId };
  const data: RangeNotice | CertificateNotice =
    type === 'certificate.expiring'
      ? { ...holder, certificate: subject as CertificateNotice['certificate'] }
      : {
          ...holder,
          range: subject as NumberRange,
          next: nextEncf,
          remaining: remaining ?? 0,
          published_at: toIsoDominican(now),
        };
  return makeEvent(
    { topic: TOPICS.notices.name, type, source: 'emission', subject: rnc, key: rnc, data },
    { id: randomUUID(), time: now },
  );
}
