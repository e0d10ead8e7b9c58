import type { Database } from '@ecf/service-kit';
import type { AftermathStore } from '../core/ports.js';

const keep = (table: 'delivery' | 'buyer_decision') => ({
  name: `${table}_keep`,
  text: `INSERT INTO ${table} AS present (env, encf, issuer_rnc, revision, status) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (env, encf, issuer_rnc) DO UPDATE SET revision = excluded.revision, status = excluded.status
    WHERE present.revision < excluded.revision`,
});
const KEEP_DELIVERY = keep('delivery');
const KEEP_DECISION = keep('buyer_decision');

/** What becomes of issued documents after the authority, in PostgreSQL. The highest revision wins. */
export function createPostgresAftermath(database: Database): AftermathStore {
  return {
    async keepDelivery({ env, encf, issuer_rnc, revision, delivery_status }) {
      await database.query(KEEP_DELIVERY, [env, encf, issuer_rnc, revision, delivery_status]);
    },
    async keepDecision({ env, encf, issuer_rnc, revision, approval_status }) {
      await database.query(KEEP_DECISION, [env, encf, issuer_rnc, revision, approval_status]);
    },
  };
}
