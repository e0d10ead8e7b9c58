import type { DeliveryOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/service-kit';
import type { GivenApproval } from './given-approval.js';
import type { Ports } from './ports.js';

/** Of an answer: enough to know what to look for at the authority. */
const MOST_ANSWER = 2_000;

/**
 * What those ask and say who operate the deployment, about approvals that the authority does not decide about here: it
 * offers no query, and may answer the same bytes unreadably for ever.
 */
export function undecidedApprovals(
  ports: Pick<Ports, 'approvals' | 'clock'>,
): Pick<DeliveryOperations, 'listUndecided' | 'settleApproval'> {
  return {
    async listUndecided({ env, issuer_rnc, settled, after, limit }) {
      const filter = { env: env ?? null, issuerRnc: issuer_rnc ?? null, settled: settled === 'true', after, limit };
      const found = await ports.approvals.undecided(filter);
      return { approvals: found.map(body), next: found.length < limit ? null : (found.at(-1)?.id ?? null) };
    },
    async settleApproval({ id, outcome, note }) {
      if ((await ports.approvals.find(id)) === null)
        throw new ApiError(404, 'not_found', `There is no approval ${id}.`);
      const status = outcome === 'accepted' ? 'Aceptado' : 'Rechazado';
      const settled = await ports.approvals.settle(id, status, note, ports.clock());
      if (settled !== null) return body(settled);
      const why = 'the authority has decided about it, or it is not to be sent';
      throw new ApiError(409, 'conflict', `There is nothing to settle by hand about the approval ${id}: ${why}.`);
    },
  };
}

function body(approval: GivenApproval) {
  const { key, authority, settled } = approval;
  return {
    id: approval.id,
    env: key.env,
    issuer_rnc: key.issuerRnc,
    receiver_rnc: key.buyerRnc,
    encf: key.encf,
    account_id: approval.accountId,
    approval_status: approval.decision,
    authority_submission_status: authority.status,
    tries: authority.tries,
    authority_response: authority.response?.slice(0, MOST_ANSWER) ?? null,
    submitted_at: toIsoDominican(approval.submittedAt ?? approval.createdAt),
    settled_at: settled === null ? null : toIsoDominican(settled.at),
    note: settled?.note ?? null,
  };
}
