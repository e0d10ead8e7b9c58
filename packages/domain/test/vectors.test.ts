import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Decimal } from '../src/amounts/decimal.js';
import type { Environment } from '../src/authority/environment.js';
import { confirmationAddress } from '../src/document/confirmation-address.js';
import { encfSequence, encfType, hasCheckDigit, isEncf, isRnc } from '../src/identifiers.js';
import {
  daysBetween,
  formatDocumentDate,
  formatSignatureDateTime,
  parseDocumentDate,
  parseSignatureDateTime,
  toCalendarDate,
  toIsoDominican,
} from '../src/time/dominican-time.js';
import { issuedEcf } from './documents.js';

/** The vectors of `examples/vectors`, which an implementation in any language can run. */
const vectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../examples/vectors/${name}.json`, import.meta.url), 'utf8'));

describe('the vectors of eNCF', () => {
  const { valid, invalid }: { valid: { text: string; type: string | null; sequence: number }[]; invalid: string[] } =
    vectors('encf');

  it.each(valid)('$text is valid', ({ text, type, sequence }) => {
    expect([isEncf(text), encfType(text), encfSequence(text)]).toEqual([true, type, sequence]);
  });

  it.each(invalid)('%j is invalid', (text) => {
    expect([isEncf(text), encfType(text), encfSequence(text)]).toEqual([false, null, null]);
  });
});

describe('the vectors of RNC and cédula', () => {
  const { valid, invalid }: { valid: { text: string; checkDigit: boolean }[]; invalid: string[] } = vectors('rnc');

  it.each(valid)('$text is valid, check digit $checkDigit', ({ text, checkDigit }) => {
    expect([isRnc(text), hasCheckDigit(text)]).toEqual([true, checkDigit]);
  });

  it.each(invalid)('%j is invalid', (text) => {
    expect([isRnc(text), hasCheckDigit(text)]).toEqual([false, false]);
  });
});

describe('the vectors of amounts', () => {
  type Step = ['plus' | 'minus' | 'times' | 'dividedBy', string];
  const {
    valid,
    invalid,
    computed,
  }: {
    valid: { text: string; twoDecimals: string }[];
    invalid: string[];
    computed: { start: string; steps: Step[]; twoDecimals: string }[];
  } = vectors('amounts');

  it.each(valid)('$text is $twoDecimals', ({ text, twoDecimals }) => {
    expect(Decimal.of(text).toFixed(2)).toBe(twoDecimals);
  });

  it.each(invalid)('%j is invalid', (text) => {
    expect(Decimal.parse(text)).toBeNull();
  });

  it.each(computed)('$start $steps is $twoDecimals', ({ start, steps, twoDecimals }) => {
    const result = steps.reduce((value, [step, operand]) => value[step](Decimal.of(operand)), Decimal.of(start));
    expect(result.toFixed(2)).toBe(twoDecimals);
  });
});

describe('the vectors of dates', () => {
  interface Dates {
    days: { valid: { text: string; date: string }[]; invalid: string[] };
    signatureTimes: { valid: { text: string; instant: string }[]; invalid: string[] };
    written: { instant: string; day: string; signatureTime: string; iso: string }[];
    daysBetween: { from: string; to: string; days: number }[];
  }
  const dates: Dates = vectors('dates');

  it.each(dates.days.valid)('the day $text is $date', ({ text, date }) => {
    expect(parseDocumentDate(text)).toBe(date);
  });

  it.each(dates.days.invalid)('the day %j is invalid', (text) => {
    expect(parseDocumentDate(text)).toBeNull();
  });

  it.each(dates.signatureTimes.valid)('the time $text is $instant', ({ text, instant }) => {
    expect(parseSignatureDateTime(text)).toEqual(new Date(instant));
  });

  it.each(dates.signatureTimes.invalid)('the time %j is invalid', (text) => {
    expect(parseSignatureDateTime(text)).toBeNull();
  });

  it.each(dates.written)('$instant is written $signatureTime', ({ instant, day, signatureTime, iso }) => {
    const at = new Date(instant);
    expect([formatDocumentDate(toCalendarDate(at)), formatSignatureDateTime(at), toIsoDominican(at)]).toEqual([
      day,
      signatureTime,
      iso,
    ]);
  });

  it.each(dates.daysBetween)('from $from to $to are $days days', ({ from, to, days }) => {
    expect(daysBetween(from, to)).toBe(days);
  });
});

describe('the vectors of QR addresses', () => {
  interface Printed {
    env: Environment;
    document: Parameters<typeof issuedEcf>[0];
    securityCode: string;
  }
  const { valid, invalid }: { valid: (Printed & { address: string })[]; invalid: (Printed & { missing: string })[] } =
    vectors('qr');

  it.each(valid)('$address', ({ env, document, securityCode, address }) => {
    expect(confirmationAddress({ env, tree: issuedEcf(document), securityCode })).toBe(address);
  });

  it.each(invalid)('without $missing there is none', ({ env, document, securityCode, missing }) => {
    expect(() => confirmationAddress({ env, tree: issuedEcf(document), securityCode })).toThrow(missing);
  });
});
