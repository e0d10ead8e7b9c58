import type { AuthorityVerdict } from '@ecf/authority-client';
import type { AuthorityMessage, InvoiceAttempt, InvoiceChanged } from '@ecf/contracts';
import { type Environment, type InvoiceStatus, storableText } from '@ecf/domain';

/** What is known of the result of a submission. */
export interface StatusFacts {
  readonly status: InvoiceStatus;
  readonly code: string | null;
  readonly messages: readonly AuthorityMessage[];
  /** The authority's flag; null unless the document was rejected, since it means nothing before. */
  readonly sequenceUsed: boolean | null;
  /** ISO 8601 with offset. */
  readonly dateReceived: string | null;
}

export interface SubmissionKey {
  readonly env: Environment;
  readonly trackId: string;
}

/** A document that was submitted under a trackId. */
export interface Submission extends SubmissionKey {
  readonly issuerRnc: string;
  readonly encf: string;
  readonly accountId: string;
  readonly submittedAt: Date;
  readonly facts: StatusFacts;
  /** The authority has decided: it is not asked again. */
  readonly final: boolean;
  /** When the question was asked whose answer the facts are; null while they are what emission told. */
  readonly askedAt: Date | null;
  /** W3C trace context that the submission was told in; null where nothing was traced. */
  readonly traceparent: string | null;
  /** Raised with each change that is published. */
  readonly revision: number;
}

/** A submission that this instance is to ask for. */
export interface ClaimedPoll extends Submission {
  /** Proves that the claim is still ours when the answer is recorded. */
  readonly claim: string;
  /** Questions that were answered so far. */
  readonly tries: number;
  /** Questions in a row that brought no answer. */
  readonly failures: number;
  readonly alarmed: boolean;
}

/** A submission as emission tells of it, and whether it has to be asked for. */
export interface PublishedSubmission extends Omit<Submission, 'askedAt' | 'revision'> {
  /** Of the document, as emission counts. */
  readonly revision: number;
  readonly polled: boolean;
}

/** States of the emission life cycle in which the verdict on the document's trackId is awaited. */
const AWAITING = new Set(['processing', 'not-found']);

/**
 * All submissions of a document that have a trackId. Only the present one is asked for, and only while its verdict is
 * awaited: a copy that was given up, or refused as a repeat, is none of emission's concern any more.
 *
 * @param heardAt stands in where emission does not know when a submission was made (its trackId was found by asking)
 * @param traceparent the trace that it is told in
 */
export function publishedSubmissions(
  invoice: InvoiceChanged,
  heardAt: Date,
  traceparent: string | null = null,
): PublishedSubmission[] {
  const told = new Map<string, PublishedSubmission>();
  for (const attempt of invoice.attempts) {
    if (attempt.track_id === null) continue;
    told.set(attempt.track_id, {
      env: invoice.env,
      trackId: attempt.track_id,
      issuerRnc: invoice.issuer_rnc,
      encf: invoice.encf,
      accountId: invoice.account_id,
      submittedAt: attempt.submitted_at === null ? heardAt : new Date(attempt.submitted_at),
      facts: publishedFacts(attempt),
      final: attempt.final,
      revision: invoice.revision,
      traceparent,
      polled: attempt.track_id === invoice.track_id && !attempt.final && AWAITING.has(invoice.state),
    });
  }
  return [...told.values()];
}

function publishedFacts(attempt: InvoiceAttempt): StatusFacts {
  return {
    status: attempt.status,
    code: attempt.code,
    messages: attempt.messages,
    sequenceUsed: attempt.status === 'Rechazado' ? attempt.sequence_used : null,
    dateReceived: attempt.date_received,
  };
}

/** What the authority answered, in the form it is kept. */
export function factsOf(verdict: AuthorityVerdict): StatusFacts {
  return {
    status: verdict.status,
    code: verdict.code,
    messages: verdict.messages.map(({ codigo, valor }) => ({
      codigo: storableText(codigo),
      valor: storableText(valor),
    })),
    sequenceUsed: verdict.status === 'Rechazado' ? verdict.sequenceUsed : null,
    dateReceived: verdict.dateReceived,
  };
}

/** What the authority says of a submission that it has not decided. */
export const UNDECIDED: readonly InvoiceStatus[] = ['EnProceso', 'No encontrado'];

/** Whether the authority has decided. */
export function isFinal({ status }: Pick<StatusFacts, 'status'>): boolean {
  return !UNDECIDED.includes(status);
}
