import type { Answer } from '@ecf/authority-client';
import type { Observer } from '../ports.js';
import type { Attempt, DocumentKey } from './attempt.js';

/** The names by which the authority is asked about a document. */
export function nameOf({ env, issuerRnc, encf }: DocumentKey): DocumentKey {
  return { env, issuerRnc, encf };
}

/** Tells of an answer that names another document: it changes nothing, and somebody should know. */
export function tellOtherDocument(
  { observer }: { readonly observer: Pick<Observer, 'answeredAnother'> },
  answer: Answer<unknown> | null,
  attempt: Attempt,
): void {
  if (answer?.outcome === 'unknown' && answer.cause === 'another_document')
    observer.answeredAnother(attempt, answer.detail);
}
