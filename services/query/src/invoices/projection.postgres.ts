import { storedEnvironment } from '@ecf/domain';
import { type Database, snakeCase, snakeCaseRow } from '@ecf/postgres';
import type { IssuedInvoice } from './issued-invoice.js';
import type { OutcomeStore, Projection } from './ports.js';

/** The first instant of a Dominican day: UTC-4 all year. */
export const midnight = (day: string) => `(((${day})::timestamp + interval '4 hours') AT TIME ZONE 'UTC')`;
const DOMINICAN_DAY = "(created_at AT TIME ZONE 'UTC' - interval '4 hours')::date";

/** The changes of one issuer run one after the other. $1 issuers, always in the same order. */
const LOCK = {
  name: 'projection_lock',
  text: 'SELECT count(pg_advisory_xact_lock(hashtextextended(issuer, 4310003))) FROM unnest($1::text[]) AS issuer',
};

/** The rows of a JSON array ($1); if it names a key several times, the one with the highest revision. */
const given = (table: string, key: string, row = `json_populate_recordset(NULL::${table}, $1::json)`) =>
  `SELECT DISTINCT ON (${key}) * FROM ${row} ORDER BY ${key}, revision DESC`;
const replaced = (columns: readonly string[]) => columns.map((column) => `${column} = excluded.${column}`).join(', ');

/** Characters that the sums keep of a message. */
const MOST_MESSAGE = 500;

const INVOICE_KEY = 'env, encf, issuer_rnc';
/** Notes when documents changed, by the clock of the database. A rebuild finds their revisions here, and changes nothing. */
const noteChanges = (revision: string, condition: string) =>
  `INSERT INTO invoice_change AS present (${INVOICE_KEY}, revision, updated_at)
      SELECT ${INVOICE_KEY}, ${revision}, clock_timestamp() FROM kept ORDER BY ${INVOICE_KEY}
    ON CONFLICT (${INVOICE_KEY}) DO UPDATE
      SET revision = greatest(present.revision, excluded.revision), updated_at = excluded.updated_at ${condition}`;

/**
 * Replaces older documents, subtracts their former values from the sums and adds the present ones. Credit notes (34) count
 * negative. The sums of buyers contain accepted documents, those of codes rejected ones. Each statement locks rows in the order of their keys.
 */
const keepInvoices = (columns: readonly string[]) => ({
  name: 'invoice_keep',
  text: `WITH given AS (${given('invoice', INVOICE_KEY)}),
    -- OFFSET keeps the look-up by key, however many rows the planner expects.
    before AS MATERIALIZED (SELECT i.* FROM given AS g CROSS JOIN LATERAL (SELECT * FROM invoice
      WHERE env = g.env AND encf = g.encf AND issuer_rnc = g.issuer_rnc OFFSET 0) AS i),
    kept AS (INSERT INTO invoice AS present (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM given
      ON CONFLICT (${INVOICE_KEY}) DO UPDATE SET ${replaced(columns)} WHERE present.revision < excluded.revision RETURNING *),
    changed AS (SELECT -1 AS n, before.* FROM before JOIN kept USING (${INVOICE_KEY}) UNION ALL SELECT 1 AS n, kept.* FROM kept),
    counted AS (SELECT env, issuer_rnc, period, day, ecf_type, status, coalesce(buyer_rnc, '') AS buyer_rnc, n,
        n * sign * total_amount AS amount, n * sign * total_itbis AS itbis
      FROM changed CROSS JOIN LATERAL (VALUES ('created', ${DOMINICAN_DAY}), ('issued', date_issued)) AS d(period, day)
        CROSS JOIN LATERAL (SELECT CASE ecf_type WHEN '34' THEN -1 ELSE 1 END AS sign) AS s WHERE listed),
    by_type AS (INSERT INTO invoice_rollup AS present (env, issuer_rnc, period, day, ecf_type, status, count, amount, itbis)
      SELECT env, issuer_rnc, period, day, ecf_type, status, sum(n), sum(amount), sum(itbis) FROM counted
       GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(n) <> 0 OR sum(amount) <> 0 OR sum(itbis) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (env, issuer_rnc, period, day, ecf_type, status) DO UPDATE SET count = present.count + excluded.count,
        amount = present.amount + excluded.amount, itbis = present.itbis + excluded.itbis),
    by_buyer AS (INSERT INTO buyer_rollup AS present (env, issuer_rnc, period, grain, bucket, buyer_rnc, count, amount)
      SELECT env, issuer_rnc, period, grain, date_trunc(grain, day)::date, buyer_rnc, sum(n), sum(amount)
        FROM counted CROSS JOIN (VALUES ('day'), ('month')) AS g(grain) WHERE status IN ('Aceptado', 'AceptadoCondicional')
       GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(n) <> 0 OR sum(amount) <> 0 ORDER BY 1, 2, 3, 4, 5, 6
      ON CONFLICT (env, issuer_rnc, period, grain, bucket, buyer_rnc) DO UPDATE SET count = present.count + excluded.count,
        amount = present.amount + excluded.amount),
    said AS (SELECT DISTINCT ON (env, issuer_rnc, encf, n, code) env, issuer_rnc, n, created_at, date_issued, m->>'codigo' AS code,
        left(m->>'valor', ${MOST_MESSAGE}) AS message
      FROM changed CROSS JOIN LATERAL json_array_elements(messages) AS m
       WHERE listed AND status = 'Rechazado' AND m->>'codigo' <> '' ORDER BY env, issuer_rnc, encf, n, code),
    by_code AS (INSERT INTO rejection_rollup AS present (env, issuer_rnc, period, day, code, count, message)
      SELECT env, issuer_rnc, period, day, code, sum(n), max(message) FROM said
        CROSS JOIN LATERAL (VALUES ('created', ${DOMINICAN_DAY}), ('issued', date_issued)) AS d(period, day)
       GROUP BY 1, 2, 3, 4, 5 HAVING sum(n) <> 0 ORDER BY 1, 2, 3, 4, 5
      ON CONFLICT (env, issuer_rnc, period, day, code) DO UPDATE SET count = present.count + excluded.count,
        message = CASE WHEN excluded.count > 0 THEN excluded.message ELSE present.message END)
    ${noteChanges('revision', 'WHERE present.revision < excluded.revision')}`,
});

const RECEIVED_KEY = 'env, encf, issuer_rnc, buyer_rnc';
const keepReceived = (columns: readonly string[]) => ({
  name: 'received_keep',
  text: `INSERT INTO received_invoice AS present (${columns.join(', ')})
    SELECT ${columns.join(', ')} FROM (${given('received_invoice', RECEIVED_KEY)}) AS given
    ON CONFLICT (${RECEIVED_KEY}) DO UPDATE SET ${replaced(columns)}
      -- After a certification run, another document may have the number, with its own revisions.
      WHERE (present.id, present.revision) < (excluded.id, excluded.revision)`,
});

/** Changes the read models and their sums. The highest revision wins, so repeated and late events change nothing. */
export function createPostgresProjection(database: Database): Projection {
  return {
    async keepInvoices(invoices) {
      if (invoices[0] === undefined) return;
      const statement = keepInvoices(columnsOf(invoices[0]));
      const issuers = [...new Set(invoices.map(({ env, issuerRnc }: IssuedInvoice) => `${env}:${issuerRnc}`))].sort();
      await database.transaction(async (tx) => {
        await tx.query(LOCK, [issuers]);
        await tx.query(statement, [JSON.stringify(invoices.map(snakeCaseRow))]);
      });
    },
    async keepReceived(received) {
      if (received[0] === undefined) return;
      await database.query(keepReceived(columnsOf(received[0])), [JSON.stringify(received.map(snakeCaseRow))]);
    },
  };
}

function columnsOf(row: object): string[] {
  return Object.keys(row).map(snakeCase);
}

const OUTCOME_COLUMNS = {
  delivery: ['revision', 'status'],
  buyer_decision: ['revision', 'status', 'confirmed'],
} as const;
/** A change of the outcome changes the document. */
const keepOutcome = (table: keyof typeof OUTCOME_COLUMNS) => {
  const columns = OUTCOME_COLUMNS[table];
  return {
    name: `${table}_keep`,
    text: `WITH kept AS (INSERT INTO ${table} AS present (${INVOICE_KEY}, ${columns.join(', ')})
      SELECT ${INVOICE_KEY}, ${columns.join(', ')} FROM (${given(table, INVOICE_KEY)}) AS given
      ON CONFLICT (${INVOICE_KEY}) DO UPDATE SET ${replaced(columns)} WHERE present.revision < excluded.revision
      RETURNING ${INVOICE_KEY})
    ${noteChanges('0', '')}`,
  };
};

/** Outcomes of issued documents. The highest revision wins. */
export function createPostgresOutcomes(database: Database): OutcomeStore {
  return {
    async keepDeliveries(deliveries) {
      const rows = deliveries.map((one) => ({ ...keyOf(one), status: one.delivery_status }));
      if (rows.length > 0) await database.query(keepOutcome('delivery'), [JSON.stringify(rows)]);
    },
    async keepDecisions(decisions) {
      const rows = decisions.map((one) => ({
        ...keyOf(one),
        status: one.approval_status,
        confirmed: one.approval_confirmed ?? false,
      }));
      if (rows.length > 0) await database.query(keepOutcome('buyer_decision'), [JSON.stringify(rows)]);
    },
  };
}

interface Keyed {
  readonly env: string;
  readonly run?: number | undefined;
  readonly encf: string;
  readonly issuer_rnc: string;
  readonly revision: number;
}

function keyOf({ env, run = 1, encf, issuer_rnc, revision }: Keyed): Keyed {
  return { env: storedEnvironment({ env, run }), encf, issuer_rnc, revision };
}
