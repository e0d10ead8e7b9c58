import type { Database } from '@ecf/service-kit/postgres';
import type { OutcomeStore } from '../core/ports.js';

interface OutcomeRow {
  readonly env: string;
  readonly encf: string;
  readonly issuer_rnc: string;
  readonly revision: number;
  readonly status: string;
}

/** A page of a rebuild may name a document twice: its highest revision is kept. */
const keep = (table: 'delivery' | 'buyer_decision') => ({
  name: `${table}_keep`,
  text: `INSERT INTO ${table} AS present (env, encf, issuer_rnc, revision, status)
    SELECT DISTINCT ON (env, encf, issuer_rnc) *
      FROM json_to_recordset($1::json) AS r(env text, encf text, issuer_rnc text, revision bigint, status text)
      ORDER BY env, encf, issuer_rnc, revision DESC
    ON CONFLICT (env, encf, issuer_rnc) DO UPDATE SET revision = excluded.revision, status = excluded.status
    WHERE present.revision < excluded.revision`,
});
const KEEP_DELIVERIES = keep('delivery');
const KEEP_DECISIONS = keep('buyer_decision');

/** Outcomes of issued documents in PostgreSQL. The highest revision wins. */
export function createPostgresOutcomes(database: Database): OutcomeStore {
  const store = (statement: typeof KEEP_DELIVERIES, rows: OutcomeRow[]) =>
    rows.length === 0 ? undefined : database.query(statement, [JSON.stringify(rows)]);
  return {
    async keepDeliveries(deliveries) {
      const rows = deliveries.map(({ delivery_status: status, ...delivery }) => outcomeRow(delivery, status));
      await store(KEEP_DELIVERIES, rows);
    },
    async keepDecisions(decisions) {
      const rows = decisions.map(({ approval_status: status, ...decision }) => outcomeRow(decision, status));
      await store(KEEP_DECISIONS, rows);
    },
  };
}

function outcomeRow({ env, encf, issuer_rnc, revision }: Omit<OutcomeRow, 'status'>, status: string): OutcomeRow {
  return { env, encf, issuer_rnc, revision, status };
}
