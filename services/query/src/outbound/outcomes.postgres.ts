import { storedEnvironment } from '@ecf/domain';
import type { Database } from '@ecf/service-kit/postgres';
import type { OutcomeStore } from '../core/ports.js';

/** A page of a rebuild may name a document twice: its highest revision is kept. What is kept changes the document. */
const keep = (table: 'delivery' | 'buyer_decision', columns: Readonly<Record<string, string>>) => {
  const names = Object.keys(columns);
  const typed = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  return {
    name: `${table}_keep`,
    text: `WITH kept AS (INSERT INTO ${table} AS present (env, encf, issuer_rnc, revision, ${names.join(', ')})
    SELECT DISTINCT ON (env, encf, issuer_rnc) *
      FROM json_to_recordset($1::json) AS r(env text, encf text, issuer_rnc text, revision bigint, ${typed.join(', ')})
      ORDER BY env, encf, issuer_rnc, revision DESC
    ON CONFLICT (env, encf, issuer_rnc) DO UPDATE
      SET revision = excluded.revision, ${names.map((name) => `${name} = excluded.${name}`).join(', ')}
    WHERE present.revision < excluded.revision RETURNING env, encf, issuer_rnc)
    INSERT INTO invoice_change (env, encf, issuer_rnc, revision, updated_at)
      SELECT env, encf, issuer_rnc, 0, clock_timestamp() FROM kept ORDER BY env, encf, issuer_rnc
    ON CONFLICT (env, encf, issuer_rnc) DO UPDATE SET updated_at = excluded.updated_at`,
  };
};
const KEEP_DELIVERIES = keep('delivery', { status: 'text' });
const KEEP_DECISIONS = keep('buyer_decision', { status: 'text', confirmed: 'boolean' });

/** Outcomes of issued documents in PostgreSQL. The highest revision wins. */
export function createPostgresOutcomes(database: Database): OutcomeStore {
  const store = (statement: typeof KEEP_DELIVERIES, rows: readonly object[]) =>
    rows.length === 0 ? undefined : database.query(statement, [JSON.stringify(rows)]);
  return {
    async keepDeliveries(deliveries) {
      const rows = deliveries.map((delivery) => ({ ...keyOf(delivery), status: delivery.delivery_status }));
      await store(KEEP_DELIVERIES, rows);
    },
    async keepDecisions(decisions) {
      const rows = decisions.map((decision) => ({
        ...keyOf(decision),
        status: decision.approval_status,
        confirmed: decision.approval_confirmed ?? false,
      }));
      await store(KEEP_DECISIONS, rows);
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
