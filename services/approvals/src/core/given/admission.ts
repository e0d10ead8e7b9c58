import { type Decision, type GivenApproval, sameDecision } from './given-approval.js';

/** What may be done with a decision, after what was decided about the same document before. */
export type Admission =
  /** It was decided; `by` says so. */
  | { readonly kind: 'answered'; readonly by: GivenApproval }
  /** The very document is there, unsent: it is the one to send. */
  | { readonly kind: 'unsent'; readonly present: GivenApproval }
  /** A new document. `authorityAlone`: the issuer has, or may have, this decision already. */
  | { readonly kind: 'new'; readonly authorityAlone: boolean };

/** A decision that was to be sent and that the authority did not refuse: it stands. */
export function stands(approval: GivenApproval): boolean {
  return approval.submittedAt !== null && approval.authority.status !== 'Rechazado';
}

/**
 * Whether a decision may be taken. Records that were never sent bind nobody; one that the authority refused is no answer,
 * but where its issuer may have it, only the same decision can follow.
 *
 * @param earlier all records about the document, oldest first
 */
export function admit(earlier: readonly GivenApproval[], wanted: Decision): Admission {
  const standing = earlier.find(stands);
  if (standing !== undefined) return { kind: 'answered', by: standing };
  const told = earlier.find(toldIssuer);
  if (told !== undefined && told.decision !== wanted.decision) return { kind: 'answered', by: told };
  const latest = earlier.at(-1);
  if (latest !== undefined && latest.submittedAt === null && sameDecision(latest, wanted))
    return { kind: 'unsent', present: latest };
  return { kind: 'new', authorityAlone: told !== undefined };
}

/** The issuer took it, or a send is under way or was lost: nobody can say that it did not. */
export function toldIssuer({ issuer }: GivenApproval): boolean {
  if (issuer.status === 'delivered') return true;
  if (issuer.status === 'pending') return issuer.tries > 0;
  return (issuer.status === 'failed' || issuer.status === 'no_receiver') && issuer.sentAt !== null;
}

/**
 * The decision that stands and that its issuer has from nobody, though it went to the authority alone: an earlier record, which
 * the issuer might have taken, turned out not to have reached it. Null where there is none.
 *
 * @param all the records about one document
 */
export function owedToIssuer(all: readonly GivenApproval[]): GivenApproval | null {
  if (all.some(toldIssuer)) return null;
  return all.find((one) => stands(one) && one.issuer.status === null) ?? null;
}
