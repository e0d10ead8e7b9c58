import { actOf, type DeliveryOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/kit';
import { counts } from './admission.js';
import type { GivenApproval } from './given-approval.js';
import type { ApprovalStore } from './ports.js';

/** Characters of the authority's answer that are shown. */
const MOST_ANSWER = 2_000;

/**
 * For operators: approvals without the authority's decision, and approvals that did not reach their issuer. The authority
 * offers no query for approvals and may never answer readably.
 */
export function approvalOperations(
  approvals: ApprovalStore,
  { clock, wake }: { readonly clock: () => Date; readonly wake: () => void },
): Pick<DeliveryOperations, 'listUndecided' | 'settleApproval' | 'retryApproval'> {
  return {
    async listUndecided({ env, issuer_rnc, settled, undelivered, after, limit }) {
      const which = undelivered === 'true' ? 'undelivered' : settled === 'true' ? 'settled' : 'undecided';
      const found = await approvals.listed({
        env: env ?? null,
        issuerRnc: issuer_rnc ?? null,
        which,
        after,
        limit,
      });
      return { approvals: found.map(body), next: found.length < limit ? null : (found.at(-1)?.id ?? null) };
    },
    async settleApproval({ id, outcome, note, by }) {
      if ((await approvals.find(id)) === null) throw new ApiError(404, 'not_found', `There is no approval ${id}.`);
      const status = outcome === 'accepted' ? 'Aceptado' : 'Rechazado';
      const now = clock();
      const what = { action: 'approval.settle', target: `/approvals/${id}`, details: { outcome, note } };
      const act = actOf(by, what, toIsoDominican(now));
      const settled = await approvals.settle(id, status, note, now, act);
      if (settled !== null) return body(settled);
      const why = 'the authority has decided, or the approval is a local record';
      throw new ApiError(409, 'conflict', `The approval ${id} cannot be settled: ${why}.`);
    },
    async retryApproval({ id, by }) {
      const present = await approvals.find(id);
      if (present === null) throw new ApiError(404, 'not_found', `There is no approval ${id}.`);
      const now = clock();
      const what = { action: 'approval.retry', target: `/approvals/${id}`, details: {} };
      const retried = await approvals.retry(id, now, actOf(by, what, toIsoDominican(now)));
      if (retried !== null) {
        wake();
        return body(retried);
      }
      throw new ApiError(409, 'conflict', `The approval ${id} is not sent to its issuer: ${whyNotSent(present)}.`);
    },
  };
}

function whyNotSent(approval: GivenApproval): string {
  if (approval.issuer.status === 'delivered') return 'the issuer has it';
  if (approval.submittedAt === null) return 'it is a local record; send it with POST /acecf first';
  if (!counts(approval)) return 'the authority refused it; take a new decision';
  return 'the issuer has, or may have, the same decision from an earlier record';
}

function body(approval: GivenApproval) {
  const { key, authority, issuer, settled } = approval;
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
    issuer_delivery_status: issuer.status,
    issuer_tries: issuer.tries,
    issuer_delivery_error: issuer.error,
    submitted_at: toIsoDominican(approval.submittedAt ?? approval.createdAt),
    settled_at: settled === null ? null : toIsoDominican(settled.at),
    note: settled?.note ?? null,
  };
}
