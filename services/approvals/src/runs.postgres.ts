import type { Database, Statement } from '@ecf/service-kit/postgres';
import { setAside } from '@ecf/taxpayer-replica';
import type { RunStore } from './ports.js';

/** No row if this run or a later one is noted. */
const NOTE = {
  name: 'run_note',
  text: `INSERT INTO certification_run AS present (env, issuer_rnc, run) VALUES ($1, $2, $3)
    ON CONFLICT (env, issuer_rnc) DO UPDATE SET run = excluded.run WHERE present.run < excluded.run RETURNING run`,
};

const PRESENT = { name: 'run_present', text: 'SELECT run FROM certification_run WHERE env = $1 AND issuer_rnc = $2' };

/** As `setAside` has them; of the taxpayer as the issuer or the buyer. */
const SET_ASIDE: readonly Statement[] = [
  {
    name: 'run_set_aside_given',
    // A sent copy is not undone; one that was not sent is not sent any more: it would count in the new run.
    text: `UPDATE given_approvals SET env = $3, superseded_at = coalesce(superseded_at, $4),
        authority_due_at = CASE WHEN authority_sent_at IS NULL THEN NULL ELSE authority_due_at END,
        issuer_due_at = CASE WHEN issuer_sent_at IS NULL THEN NULL ELSE issuer_due_at END
      WHERE env = $1 AND (buyer_rnc = $2 OR issuer_rnc = $2) AND created_at < $4`,
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

/** The certification runs of taxpayers, and what they set aside. Deliveries need nothing: each names the run of its document, and ends when it is due. */
export function createRunStore(database: Database): RunStore {
  return {
    start: (started) =>
      database.transaction(async (tx) => {
        const { rowCount } = await tx.query(NOTE, [started.env, started.rnc, started.run]);
        if (rowCount === 0) return;
        await setAside(tx, SET_ASIDE, started);
      }),
    async present(env, rnc) {
      const { rows } = await database.query<{ run: number }>(PRESENT, [env, rnc]);
      return rows[0]?.run ?? 1;
    },
  };
}
