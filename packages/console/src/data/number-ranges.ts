import type { Schemas } from './gateway.js';

type EcfType = Schemas['EcfType'];

/** Numbers of one type, from one to another, both included. */
export interface NumberRange {
  readonly type: EcfType;
  readonly from: string;
  readonly to: string;
}

/** A range as it is typed: numbers with or without `E`, type and zeros; without `to` it is a single number. */
export interface TypedRange {
  /** Tells the ranges of a form apart. */
  readonly id: number;
  readonly type: EcfType;
  readonly from: string;
  readonly to: string;
}

let lastId = 0;

/** A range to be typed. */
export function typedRange(type: EcfType, from = '', to = ''): TypedRange {
  lastId += 1;
  return { id: lastId, type, from, to };
}

/** Why a typed range cannot be cancelled. */
export type RangeFault = 'number' | 'type' | 'order' | 'overlap';

const sequenceOf = (encf: string) => Number(encf.slice(3));

/** How many numbers a range has. */
export const countOf = ({ from, to }: NumberRange): number => sequenceOf(to) - sequenceOf(from) + 1;

function encfOf(type: EcfType, text: string): string | 'number' | 'type' {
  const typed = text.trim().toUpperCase();
  if (/^\d{1,10}$/.test(typed) && Number(typed) > 0) return `E${type}${typed.padStart(10, '0')}`;
  if (!/^E\d{12}$/.test(typed) || sequenceOf(typed) === 0) return 'number';
  return typed.startsWith(`E${type}`) ? typed : 'type';
}

function read({ type, from, to }: TypedRange): NumberRange | RangeFault {
  const [first, last] = [encfOf(type, from), encfOf(type, to.trim() === '' ? from : to)];
  for (const fault of ['number', 'type'] as const) if (first === fault || last === fault) return fault;
  return first <= last ? { type, from: first, to: last } : 'order';
}

/** The typed ranges with their numbers written out, or for each one what is wrong with it, if anything. */
export function readRanges(
  typed: readonly TypedRange[],
): { ranges: NumberRange[]; faults: null } | { ranges: null; faults: (RangeFault | undefined)[] } {
  const all = typed.map(read);
  const ranges = all.filter((one) => typeof one !== 'string');
  const faults = all.map((one) => {
    if (typeof one === 'string') return one;
    const earlier = ranges.slice(0, ranges.indexOf(one));
    return earlier.some(({ from, to }) => from <= one.to && one.from <= to) ? ('overlap' as const) : undefined;
  });
  return faults.every((fault) => fault === undefined) ? { ranges, faults: null } : { ranges: null, faults };
}
