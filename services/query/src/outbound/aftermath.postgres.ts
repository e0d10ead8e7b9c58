import { createBatches, type Database } from '@ecf/service-kit/postgres';
import type { AftermathStore } from '../core/ports.js';

interface Present {
  readonly env: string;
  readonly encf: string;
  readonly issuer_rnc: string;
  readonly revision: number;
  readonly status: string;
}

const keep = (table: 'delivery' | 'buyer_decision') => ({
  name: `${table}_keep`,
  text: `INSERT INTO ${table} AS present (env, encf, issuer_rnc, revision, status)
    SELECT * FROM json_to_recordset($1::json) AS r(env text, encf text, issuer_rnc text, revision bigint, status text)
    ORDER BY env, encf, issuer_rnc
    ON CONFLICT (env, encf, issuer_rnc) DO UPDATE SET revision = excluded.revision, status = excluded.status
    WHERE present.revision < excluded.revision`,
});

/** What becomes of issued documents after the authority, in PostgreSQL. The highest revision wins. */
export function createPostgresAftermath(database: Database): AftermathStore {
  const batches = (table: 'delivery' | 'buyer_decision') => {
    const statement = keep(table);
    return createBatches<Present, void>({
      maxItems: 100,
      maxUnderWay: 1,
      keyOf: ({ env, encf, issuer_rnc }) => `${env}:${issuer_rnc}:${encf}`,
      async work(items) {
        await database.query(statement, [JSON.stringify(items)]);
        return items.map(() => undefined);
      },
    });
  };
  const deliveries = batches('delivery');
  const decisions = batches('buyer_decision');
  return {
    keepDelivery: ({ env, encf, issuer_rnc, revision, delivery_status: status }) =>
      deliveries.run({ env, encf, issuer_rnc, revision, status }),
    keepDecision: ({ env, encf, issuer_rnc, revision, approval_status: status }) =>
      decisions.run({ env, encf, issuer_rnc, revision, status }),
  };
}
