import type { Database, Statement } from '@ecf/service-kit/postgres';
import { type StartedRun, setAside } from '@ecf/taxpayer-replica';

/** Statements for `setAside`. They set aside the documents that came to the taxpayer or from it. */
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

/** Certification runs of taxpayers. */
export interface RunStore {
  /**
   * Documents that came to the taxpayer, or from it, before the start belong to the run before: they are kept, and no later look-up
   * finds them.
   */
  start(run: StartedRun): Promise<void>;
}

/** What certification runs set aside, in PostgreSQL. */
export function createRunStore(database: Database): RunStore {
  return {
    start: (started) => database.transaction((tx) => setAside(tx, SET_ASIDE, started)),
  };
}
