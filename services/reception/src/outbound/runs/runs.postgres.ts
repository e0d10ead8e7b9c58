import type { Database, Statement } from '@ecf/service-kit/postgres';
import type { RunStore } from '../../core/ports.js';

/**
 * What belongs to the run before gets another environment: $3, of a form that no look-up names. So a repeated start finds nothing
 * more. Each statement takes what came before $4 to the taxpayer $2 in $1, or from it.
 */
const SET_ASIDE: readonly Statement[] = [
  {
    name: 'run_set_aside_received',
    text: `UPDATE received_documents SET env = $3
      WHERE env = $1 AND (buyer_rnc = $2 OR issuer_rnc = $2) AND received_at < $4`,
  },
  {
    name: 'run_set_aside_refused',
    text: `UPDATE refused_documents SET env = $3
      WHERE env = $1 AND (buyer_rnc = $2 OR issuer_rnc = $2) AND received_at < $4`,
  },
];

/** What certification runs set aside, in PostgreSQL. */
export function createRunStore(database: Database): RunStore {
  return {
    start: ({ env, rnc, run, startedAt }) =>
      database.transaction(async (tx) => {
        for (const statement of SET_ASIDE) await tx.query(statement, [env, rnc, `${env}/${run - 1}/${rnc}`, startedAt]);
      }),
  };
}
