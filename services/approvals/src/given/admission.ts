import { mayHaveArrived } from '../sending/outgoing.js';
import { type Decision, type GivenApproval, sameDecision } from './given-approval.js';

/** Whether a decision may be taken after the earlier ones about the same document. */
export type Admission =
  /** It was decided by `by`. */
  | { readonly kind: 'answered'; readonly by: GivenApproval }
  /** The same document exists unsent and is to be sent. */
  | { readonly kind: 'unsent'; readonly present: GivenApproval }
  /** A new document. `authorityAlone`: the issuer has, or may have, this decision already. */
  | { readonly kind: 'new'; readonly authorityAlone: boolean };

/** A decision counts if it was to be sent, the authority did not refuse it, and it answers the present document. */
export function counts(approval: GivenApproval): boolean {
  return approval.supersededAt === null && approval.submittedAt !== null && approval.authority.status !== 'Rechazado';
}

/**
 * Records that were never sent do not bind, and neither do records about a document that lost its number. A refused one is not an
 * answer, but if the issuer may have it, only the same decision can follow.
 *
 * @param all all records about the number, oldest first
 */
export function admit(all: readonly GivenApproval[], wanted: Decision): Admission {
  const earlier = all.filter(answersPresent);
  const counting = earlier.find(counts);
  if (counting !== undefined) return { kind: 'answered', by: counting };
  const sent = earlier.find(mayHaveReachedIssuer);
  if (sent !== undefined && sent.decision !== wanted.decision) return { kind: 'answered', by: sent };
  const latest = earlier.at(-1);
  if (latest !== undefined && latest.submittedAt === null && sameDecision(latest, wanted))
    return { kind: 'unsent', present: latest };
  return { kind: 'new', authorityAlone: sent !== undefined };
}

/** A decision whose request states no time, at the time of the latest record if that is otherwise the same and was not sent. */
export function atStoredTime(decision: Decision, all: readonly GivenApproval[]): Decision {
  const latest = all.filter(answersPresent).at(-1);
  if (latest === undefined || latest.submittedAt !== null) return decision;
  const stored = { ...decision, decidedAt: latest.decidedAt };
  return sameDecision(latest, stored) ? stored : decision;
}

function answersPresent({ supersededAt }: GivenApproval): boolean {
  return supersededAt === null;
}

/** The issuer took it, or a send is in flight or was lost. */
function mayHaveReachedIssuer({ issuer }: GivenApproval): boolean {
  if (issuer.status === 'delivered' || (issuer.status === 'pending' && issuer.tries > 0)) return true;
  return issuer.status !== null && issuer.status !== 'refused' && mayHaveArrived(issuer);
}

/**
 * A standing decision went to the authority alone because the issuer might have an earlier record of it. Where no earlier
 * record reached the issuer, this gives the decision to send; otherwise null.
 *
 * @param all the records about one document
 */
export function owedToIssuer(all: readonly GivenApproval[]): GivenApproval | null {
  if (all.filter(answersPresent).some(mayHaveReachedIssuer)) return null;
  return all.find((one) => counts(one) && one.issuer.status === null) ?? null;
}
