// Repeats: what a request means if its number or its idempotency key was used before, and the 409 for another document.
import { type DocumentNode, EMISSION_STATES, type EmissionState, groupOf, textOf } from '@ecf/domain';
import type { Difference } from '@ecf/ecf-xml';
import { type Attempt, isHeldByAnother } from '../attempt/attempt.js';
import { EmissionError } from '../errors.js';
import type { KeyScope, NumberStore } from '../numbers/ports.js';
import { publicStatus } from '../published/invoice-event.js';
import type { CompareWithAttempt, Comparison, SentDocument } from './compare-documents.js';

/** The meaning of a request for a number, by the attempt that is stored under it. */
export type Repeat =
  /** The number has no stored attempt. */
  | { readonly outcome: 'first' }
  /** The last attempt has ended and left the number free: a new attempt. */
  | { readonly outcome: 'new-attempt' }
  /** The same document again: the stored answer with the present status. */
  | { readonly outcome: 'same'; readonly existing: Attempt }
  /** Another document under a number that is taken. */
  | { readonly outcome: 'conflict'; readonly existing: Attempt; readonly comparison: Comparison };

/**
 * A rejected document with a reusable number, or a withdrawn one, makes room for the same or another content. Everything else
 * stays as it is.
 *
 * @param compare compares the document of the request with the stored one
 * @param lostRace whether another request took the number meanwhile. An equal document that was rejected meanwhile is then the
 * answer to both requests, because neither was sent to retry it.
 */
export async function decideRepeat(
  existing: Attempt | null,
  compare: (existing: Attempt) => Promise<Comparison>,
  lostRace: boolean,
): Promise<Repeat> {
  if (existing === null) return { outcome: 'first' };
  const { decided, sequenceUsed } = EMISSION_STATES[existing.state];
  const isFree = decided && sequenceUsed === false;
  if (isFree && !(lostRace && existing.state === 'rejected-reusable')) return { outcome: 'new-attempt' };
  const comparison = await compare(existing);
  if (comparison.count === 0) return { outcome: 'same', existing };
  return isFree ? { outcome: 'new-attempt' } : { outcome: 'conflict', existing, comparison };
}

/** Paths of the elements that the service fills in if a document leaves its number open. */
export function filledIn(tree: DocumentNode): string[] {
  const idDoc = groupOf(groupOf(groupOf(tree, 'ECF'), 'Encabezado'), 'IdDoc');
  const open = ['eNCF', 'FechaVencimientoSecuencia'].filter((name) => textOf(idDoc, name) === null);
  return open.map((name) => `ECF.Encabezado.IdDoc.${name}`);
}

/**
 * The submission that the key names; null if it names none yet. A key names one submission for 30 days and never makes another.
 *
 * @param issuerRnc the issuer of the document; values of other issuers are not named
 * @param ignored paths that do not count
 * @throws EmissionError 409 `idempotency_conflict` if the key names another document
 */
export async function submissionOfKey(
  numbers: Pick<NumberStore, 'submitted'>,
  compare: CompareWithAttempt,
  scope: KeyScope,
  { issuerRnc, sent, ignored }: { issuerRnc: string; sent: SentDocument; ignored: readonly string[] },
): Promise<Attempt | null> {
  const before = await numbers.submitted({ ...scope, issuerRnc });
  if (before === null) return null;
  const { attempt, contentHash } = before;
  if (attempt.issuerRnc !== issuerRnc) throw keyOfAnotherIssuer();
  if (contentHash === sent.contentHash) return attempt;
  const comparison = await compare(attempt, sent, ignored);
  if (comparison.count > 0) throw keyConflict(attempt, comparison);
  return attempt;
}

/** Characters of a value that a conflict shows. */
const SHOWN = 60;
/** Characters before the first one that differs. */
const BEFORE = 15;

/** The answer to another document under a number that is taken. */
export function numberConflict(existing: Attempt, comparison: Comparison): EmissionError {
  const remedy = isHeldByAnother(existing)
    ? lookFirst(existing, 'under another number')
    : existing.state === 'rejected-used'
      ? 'Send a corrected document under another number.'
      : 'If this is the same sale, you need not do anything. Use another number only for another sale.';
  return new EmissionError(
    'encf_already_used',
    `The document stored as ${existing.encf} in ${existing.env} is safe: ${outcomeOf(existing)}. This one was not submitted, because it differs: ${named(comparison)}. ${remedy}`,
  );
}

/** The answer to a document under an idempotency-key that another issuer used. It names no value of that document. */
function keyOfAnotherIssuer(): EmissionError {
  return new EmissionError(
    'idempotency_conflict',
    'A document of another issuer is stored with this idempotency-key, and is safe. This one was not submitted; use another key for it.',
  );
}

/** The answer to another document under an idempotency-key. */
export function keyConflict(existing: Attempt, comparison: Comparison): EmissionError {
  const remedy = isHeldByAnother(existing)
    ? lookFirst(existing, 'under another number and key')
    : publicStatus(existing.state) === 'Rechazado'
      ? 'Use another key for a corrected document, or for another sale.'
      : 'If this is the same sale, you need not do anything. Use another key only for another sale.';
  return new EmissionError(
    'idempotency_conflict',
    `The document stored with this idempotency-key, ${existing.encf} in ${existing.env}, is safe: ${outcomeOf(existing)}. This one was not submitted, because it differs: ${named(comparison)}. ${remedy}`,
  );
}

/** The remedy if the authority has another submission under the number: a second document may issue its sale twice. */
function lookFirst({ encf }: Attempt, under: string): string {
  return `The authority has an earlier submission under ${encf}, perhaps of this very sale (GET /trackids/${encf} shows the refusal). Look for it at the authority first: if it is this sale and was not rejected, submit nothing more; otherwise submit this document ${under}.`;
}

const OUTCOMES: Partial<Record<EmissionState, string>> = {
  accepted: 'it is accepted',
  conditional: 'it is accepted with observations',
  'rejected-used': 'it was rejected and its number is used up',
  'rejected-reusable': 'it was rejected',
  withdrawn: 'it was withdrawn',
};

function outcomeOf({ state }: Attempt): string {
  return `${OUTCOMES[state] ?? 'it is in progress'} (${publicStatus(state)})`;
}

function named({ count, first }: Comparison): string {
  if (first.length === 0) return 'it has other content';
  const more = count - first.length;
  const rest = more === 0 ? '' : `; and ${more} more element${more === 1 ? '' : 's'}`;
  return `${first.map(inWords).join('; ')}${rest}`;
}

function inWords({ path, stored, sent }: Difference): string {
  const from = firstDifference(stored ?? '', sent ?? '');
  return `${path} is ${quoted(stored, from)} in the stored document and ${quoted(sent, from)} in this one`;
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

/** A value, or the part of a long one that has the first difference. */
function quoted(value: string | null, difference: number): string {
  if (value === null) return 'absent';
  const start = value.length <= SHOWN ? 0 : Math.max(0, difference - BEFORE);
  const end = start + SHOWN;
  // As in JSON: a value with line feeds or quotes stays one text in the sentence.
  return JSON.stringify(`${start > 0 ? '…' : ''}${value.slice(start, end)}${end < value.length ? '…' : ''}`);
}
