import type { Environment } from '@ecf/domain';
import { type Database, type Queries, queryBuilder, type Statement } from '@ecf/postgres';
import { type StartedRun, setAside } from '@ecf/taxpayer-replica';
import type { DB } from '../generated/tables.js';

/** No row if this run or a later one is stored. */
const STORE = {
  name: 'run_store',
  text: `INSERT INTO certification_run AS present (env, issuer_rnc, run) VALUES ($1, $2, $3)
    ON CONFLICT (env, issuer_rnc) DO UPDATE SET run = excluded.run WHERE present.run < excluded.run RETURNING run`,
};

/** Statements for `setAside`. They concern the taxpayer as the issuer or the buyer. */
const SET_ASIDE: readonly Statement[] = [
  {
    name: 'run_set_aside_given',
    // A sent copy is not undone; one that was not sent is no longer sent: it would count in the new run.
    text: `WITH aside AS (
        UPDATE given_approvals SET env = $3, superseded_at = coalesce(superseded_at, $4)
         WHERE env = $1 AND (buyer_rnc = $2 OR issuer_rnc = $2) AND created_at < $4 RETURNING id)
      UPDATE outgoing_documents d SET due_at = NULL, claim = NULL FROM aside WHERE d.approval_id = aside.id AND d.sent_at IS NULL`,
  },
  {
    name: 'run_set_aside_received',
    text: `WITH aside AS (
        UPDATE received_approvals SET env = $3
         WHERE env = $1 AND (buyer_rnc = $2 OR issuer_rnc = $2) AND received_at < $4 RETURNING id)
      UPDATE received_decisions d SET answer_id = NULL FROM aside WHERE d.answer_id = aside.id`,
  },
  {
    name: 'run_set_aside_acknowledgements',
    text: `UPDATE received_acknowledgements SET env = $3
      WHERE env = $1 AND (buyer_rnc = $2 OR issuer_rnc = $2) AND received_at < $4`,
  },
];

/** Certification runs of taxpayers, and the records that they set aside. A delivery of an earlier run ends when it is due. */
export interface RunStore {
  /**
   * Approvals given and received, and acknowledgements, that came before the start belong to the run before: they are kept, and no
   * later look-up finds them. A start that is known, or an earlier one, changes nothing.
   */
  start(run: StartedRun): Promise<void>;
  /** The present run of a taxpayer, as far as its start is known. */
  present(env: Environment, rnc: string): Promise<number>;
}

export function createRunStore(database: Database): RunStore {
  return {
    start: (started) =>
      database.transaction(async (tx) => {
        const { rowCount } = await tx.query(STORE, [started.env, started.rnc, started.run]);
        if (rowCount === 0) return;
        await setAside(tx, SET_ASIDE, started);
      }),
    present: (env, rnc) => presentRun(database, env, rnc),
  };
}

/** The present certification run of a taxpayer, as far as its start is known; 1 for the first. */
export async function presentRun(queries: Queries, env: Environment, issuerRnc: string): Promise<number> {
  const known = await queryBuilder<DB>(queries)
    .selectFrom('certificationRun')
    .select('run')
    .where('env', '=', env)
    .where('issuerRnc', '=', issuerRnc)
    .executeTakeFirst();
  return known?.run ?? 1;
}
