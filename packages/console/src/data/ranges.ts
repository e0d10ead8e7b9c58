import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, GatewayError, type Schemas } from './gateway.js';
import { type SettingsOwner, useRefreshOwner, useSettingsOwner } from './settings-owner.js';

/** A registered range with what is left of it. */
export type LeftRange = Schemas['RangeWithNumbers'];
export type NumberRange = Schemas['NumberRange'];

const CHANGED = 'Another person changed the ranges meanwhile. Close this, look at the list and repeat the change.';

const keyOf = ({ id }: SettingsOwner, rnc: string) => ['ranges', id, rnc];
const listOf = ({ gateway }: SettingsOwner, rnc: string) =>
  bodyOf(gateway.GET('/account/taxpayers/{rnc}/ranges', { params: { path: { rnc } } }));

/** The ranges of a taxpayer in all environments of the key. */
export function useRanges(rnc: string) {
  const owner = useSettingsOwner();
  return useQuery({ queryKey: keyOf(owner, rnc), queryFn: () => listOf(owner, rnc) });
}

/** A change of the ranges: the gateway replaces the whole list. */
export interface RangesChange {
  /** The list that the person saw. */
  before: readonly NumberRange[];
  after: readonly NumberRange[];
  /** Whether numbers that were used, or all ranges, may be removed. */
  remove: boolean;
}

/** Replaces the ranges of a taxpayer. A list that another person changed meanwhile is not overwritten: `ranges_changed`. */
export function usePutRanges(rnc: string) {
  const owner = useSettingsOwner();
  const refreshOwner = useRefreshOwner();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ before, after, remove }: RangesChange) => {
      const present = await listOf(owner, rnc);
      if (JSON.stringify(present.map(plain)) !== JSON.stringify(before.map(plain)))
        throw new GatewayError({ status: 412, code: 'ranges_changed', message: CHANGED });
      return bodyOf(
        owner.gateway.PUT('/account/taxpayers/{rnc}/ranges', {
          params: { path: { rnc }, query: { remove: remove ? 'true' : 'false' } },
          body: after.map(plain),
        }),
      );
    },
    onSettled: () => Promise.all([queries.invalidateQueries({ queryKey: keyOf(owner, rnc) }), refreshOwner()]),
  });
}

const plain = ({ env, ecf_type, from, to, expires }: NumberRange): NumberRange => ({
  env,
  ecf_type,
  from,
  to,
  expires,
});

/** Whether both are the same range, whatever else is known of them. */
export const isSameRange = (one: NumberRange, other: NumberRange) =>
  JSON.stringify(plain(one)) === JSON.stringify(plain(other));

const sequenceOf = (encf: string) => Number(encf.slice(3));

/** How many numbers a range has. */
export const sizeOf = ({ from, to }: NumberRange) => sequenceOf(to) - sequenceOf(from) + 1;

/** How many numbers of a range another one lacks. */
export function countWithout(range: NumberRange, other: NumberRange | null): number {
  if (other === null || range.env !== other.env || range.ecf_type !== other.ecf_type) return sizeOf(range);
  const shared =
    Math.min(sequenceOf(range.to), sequenceOf(other.to)) - Math.max(sequenceOf(range.from), sequenceOf(other.from)) + 1;
  return sizeOf(range) - Math.max(0, shared);
}

/** A number of a type as people write it, in full or its sequence alone: `E310000000001` of `1`. */
export function encfOf(type: string, text: string): string {
  const typed = text.trim().toUpperCase();
  return typed.startsWith('E') ? typed : `E${type}${typed.padStart(10, '0')}`;
}

/** What is wrong with a range beside the others of the taxpayer; null if it has no fault. */
export function faultOf(range: NumberRange, others: readonly NumberRange[]): 'type' | 'order' | 'overlap' | null {
  const { ecf_type, from, to } = range;
  if (![from, to].every((encf) => encf.startsWith(`E${ecf_type}`))) return 'type';
  if (sequenceOf(from) === 0 || from > to) return 'order';
  return others.some((other) => countWithout(range, other) < sizeOf(range)) ? 'overlap' : null;
}
