import type { EmissionState } from '@ecf/domain';
import type { Difference } from '@ecf/ecf-xml';
import type { Attempt } from '../attempt/attempt.js';
import { EmissionError } from '../errors.js';
import { publicStatus } from '../published/invoice-event.js';
import type { Comparison } from './compare-documents.js';

/** Characters of a value that a conflict shows. */
const SHOWN = 60;
/** Characters before the first one that differs. */
const BEFORE = 15;

/** The answer to another document under a number that is taken. */
export function numberConflict(existing: Attempt, comparison: Comparison): EmissionError {
  const remedy =
    existing.state === 'rejected-used'
      ? 'Send a corrected document under another number.'
      : 'If this is the same sale, you need not do anything. Use another number only for another sale.';
  return new EmissionError(
    'encf_already_used',
    `The document stored as ${existing.encf} in ${existing.env} is safe: ${standing(existing)}. This one was not submitted, because it differs: ${named(comparison)}. ${remedy}`,
  );
}

/** The answer to a document under an idempotency-key that another issuer used. It names no value of that document. */
export function keyOfAnotherIssuer(): EmissionError {
  return new EmissionError(
    'idempotency_conflict',
    'A document of another issuer is stored with this idempotency-key, and is safe. This one was not submitted; use another key for it.',
  );
}

/** The answer to another document under an idempotency-key. */
export function keyConflict(existing: Attempt, comparison: Comparison): EmissionError {
  const remedy =
    publicStatus(existing.state) === 'Rechazado'
      ? 'Use another key for a corrected document, or for another sale.'
      : 'If this is the same sale, you need not do anything. Use another key only for another sale.';
  return new EmissionError(
    'idempotency_conflict',
    `The document stored with this idempotency-key, ${existing.encf} in ${existing.env}, is safe: ${standing(existing)}. This one was not submitted, because it differs: ${named(comparison)}. ${remedy}`,
  );
}

const STANDING: Partial<Record<EmissionState, string>> = {
  accepted: 'it is accepted',
  conditional: 'it is accepted with observations',
  'rejected-used': 'it was rejected and its number is used up',
  'rejected-reusable': 'it was rejected',
  withdrawn: 'it was withdrawn',
};

function standing({ state }: Attempt): string {
  return `${STANDING[state] ?? 'it is in progress'} (${publicStatus(state)})`;
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
