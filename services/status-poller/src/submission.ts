import type { AuthorityVerdict, RawAnswer } from '@ecf/authority-client';
import type { AuthorityMessage, InvoiceAttempt, InvoiceChanged } from '@ecf/contracts';
import { type Environment, GATEWAY_CODE, type InvoiceStatus, storableText } from '@ecf/domain';

/** The known result of a submission. */
export interface StatusFacts {
  readonly status: InvoiceStatus;
  readonly code: string | null;
  readonly messages: readonly AuthorityMessage[];
  /** The authority's flag; null unless the document was rejected, because it has no meaning before. */
  readonly sequenceUsed: boolean | null;
  /** ISO 8601 with offset. */
  readonly dateReceived: string | null;
}

/** The result of a submission after a query. */
export interface QueriedResult {
  readonly facts: StatusFacts;
  /** Time of the query. */
  readonly queriedAt: Date;
  /** Null if no usable answer came: the facts are the last known ones, and an entry of the gateway says so. */
  readonly raw: RawAnswer | null;
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
  /** The authority has decided: no further query. */
  readonly final: boolean;
  /** Time of the query that brought the facts; null while they come from emission. */
  readonly queriedAt: Date | null;
  /** W3C trace context of the submission; null without a trace. */
  readonly traceparent: string | null;
  /** Increases with each published change. */
  readonly revision: number;
}

/** A submission whose result this instance queries. */
export interface ClaimedPoll extends Submission {
  /** Identifies the claim, so that an answer is recorded only while the claim holds. */
  readonly claim: string;
  /** Answered queries so far. */
  readonly tries: number;
  /** Queries in a row without an answer. */
  readonly failures: number;
  readonly alarmed: boolean;
}

/** A submission as emission publishes it, and whether its result has to be queried. */
export interface PublishedSubmission extends Omit<Submission, 'queriedAt' | 'revision'> {
  /** Revision of the document. */
  readonly revision: number;
  readonly polled: boolean;
}

/** States of the emission life cycle that await the verdict on the document's trackId. */
const AWAITING = new Set(['processing', 'not-found']);

/**
 * All submissions of a document that have a trackId. Only the present one is queried, and only while emission awaits its
 * verdict. Emission no longer needs the result of a copy that it gave up, or that was refused as a repeat.
 *
 * @param receivedAt replaces the submission time if emission found the trackId by a query and does not know the time
 * @param traceparent the trace of the event
 */
export function publishedSubmissions(
  invoice: InvoiceChanged,
  receivedAt: Date,
  traceparent: string | null = null,
): PublishedSubmission[] {
  const published = new Map<string, PublishedSubmission>();
  for (const attempt of invoice.attempts) {
    if (attempt.track_id === null) continue;
    published.set(attempt.track_id, {
      env: invoice.env,
      trackId: attempt.track_id,
      issuerRnc: invoice.issuer_rnc,
      encf: invoice.encf,
      accountId: invoice.account_id,
      submittedAt: attempt.submitted_at === null ? receivedAt : new Date(attempt.submitted_at),
      facts: publishedFacts(attempt),
      final: attempt.final,
      revision: invoice.revision,
      traceparent,
      polled: attempt.track_id === invoice.track_id && !attempt.final && AWAITING.has(invoice.state),
    });
  }
  return [...published.values()];
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

/** The authority's own messages. */
export function withoutEntry(messages: readonly AuthorityMessage[]): AuthorityMessage[] {
  return messages.filter(({ codigo }) => codigo !== GATEWAY_CODE);
}

/** The answer of the authority, in the stored form. */
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

/** Statuses of a submission that the authority has not decided. */
export const UNDECIDED: readonly InvoiceStatus[] = ['EnProceso', 'No encontrado'];

/** Whether the authority has decided. */
export function isFinal({ status }: Pick<StatusFacts, 'status'>): boolean {
  return !UNDECIDED.includes(status);
}
