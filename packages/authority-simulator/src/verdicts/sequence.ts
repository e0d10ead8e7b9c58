import { type Environment, parseDocumentDate, toCalendarDate } from '@ecf/domain';
import type { Numbers } from '../ledger/numbers.js';
import type { TaxpayerRegister } from '../ledger/taxpayer-register.js';
import type { NumberRange } from '../ledger/taxpayers.js';
import { TEXTS } from './texts.js';
import { holdsNumber, type Message, rejected, type Verdict } from './verdict.js';

interface NumberClaim {
  readonly env: Environment;
  readonly rnc: string;
  readonly encf: string;
  /** FechaVencimientoSecuencia as written; null if absent. */
  readonly expiry: string | null;
  readonly now: Date;
}

/** The finding about the sequence: a rejection, or an observation that makes the document conditional. */
type SequenceFinding = { readonly verdict: Verdict } | { readonly observation: Message } | null;

/** Whether the number may be used: not annulled, not used, authorised and not expired. */
export function checkSequence(
  numbers: Numbers,
  taxpayers: Pick<TaxpayerRegister, 'find'>,
  claim: NumberClaim,
): SequenceFinding {
  const { env, rnc, encf } = claim;
  const type = encf.slice(1, 3);
  const sequence = Number(encf.slice(3));
  // An annulled number can never be used again, so it counts as used up.
  if (numbers.isAnnulled(env, rnc, type, sequence)) return { verdict: rejected([TEXTS.unauthorisedNumber], true) };
  if (numbers.holder(env, rnc, encf)) return { verdict: rejected([TEXTS.usedNumber], false) };
  const ranges = taxpayers.find(rnc)?.ranges ?? null;
  if (ranges === null) return null;
  const range = ranges.find((each) => covers(each, env, type, sequence));
  if (range) return checkExpiry(range, claim);
  // The sandbox still accepts consumer invoices. Source: field report of an integrator's smoke test.
  if (env === 'TesteCF' && type === '32') return { observation: TEXTS.unauthorisedNumber };
  return { verdict: rejected([TEXTS.unauthorisedNumber], false) };
}

function covers(range: NumberRange, env: Environment, type: string, sequence: number): boolean {
  return (
    (range.env === null || range.env === env) &&
    range.ecf_type === type &&
    range.from <= sequence &&
    sequence <= range.to
  );
}

/** Only an authorisation that has run out leaves the number free; a date that is not the authorised one burns it. */
function checkExpiry(range: NumberRange, { expiry, now }: NumberClaim): SequenceFinding {
  const authorised = range.expires === null ? null : parseDocumentDate(range.expires);
  if (authorised !== null && authorised < toCalendarDate(now)) return { verdict: rejected([TEXTS.expiryDate], false) };
  if (authorised !== null && expiry !== null && parseDocumentDate(expiry) !== authorised) {
    return { verdict: rejected([TEXTS.expiryDate], true) };
  }
  return null;
}

/** Whether a document with this verdict is the one that its number belongs to from now on. */
export function takesNumber(
  numbers: Numbers,
  env: Environment,
  { rnc, encf }: { readonly rnc: string | null; readonly encf: string | null },
  verdict: Verdict,
): boolean {
  if (!holdsNumber(verdict) || rnc === null || encf === null) return false;
  return (
    numbers.holder(env, rnc, encf) === null && !numbers.isAnnulled(env, rnc, encf.slice(1, 3), Number(encf.slice(3)))
  );
}
