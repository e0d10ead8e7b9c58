import { canonicalJson } from '@ecf/kit/canonical-json';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { sha256 } from '../digest.js';
import { bodyOf } from '../gateway.js';
import { type AdminOperations, type AdminSchemas, administration } from './gateway.js';

export type AuditEntry = AdminSchemas['AuditEntry'];
export type AuditFilters = { actor?: string; action?: string; target?: string };

type Query = AdminOperations['listAudit']['parameters']['query'];
const pageOf = (query: Query) => bodyOf(administration.GET('/admin/audit', { params: { query } }));

/** The audit log, newest first, page after page. */
export function useAudit(filters: AuditFilters) {
  return useInfiniteQuery({
    queryKey: ['admin', 'audit', filters],
    queryFn: ({ pageParam }) =>
      pageOf({ order: 'desc', limit: 50, ...filters, ...(pageParam !== null && { after: pageParam }) }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
}

/** What the hashes of entries prove: which entries, and the first that does not fit. */
export interface Chain {
  readonly from: number;
  readonly to: number;
  readonly entries: number;
  readonly fault: { readonly seq: number; readonly kind: 'changed' | 'missing' | 'unlinked' } | null;
}

const FIRST_PREVIOUS_HASH = '0'.repeat(64);

/**
 * Checks entries in the order of their numbers: each against its own hash, and against the entry before it. With `gaps`, an entry
 * may be missing, as in a filtered list.
 */
export function verifyChain(entries: readonly AuditEntry[], { gaps }: { gaps: boolean }): Chain | null {
  const [first] = entries;
  if (first === undefined) return null;
  let last: AuditEntry | null = null;
  for (const entry of entries) {
    const kind = faultOf(entry, last, gaps);
    if (kind !== null)
      return { from: first.seq, to: last?.seq ?? first.seq, entries: entries.length, fault: { seq: entry.seq, kind } };
    last = entry;
  }
  return { from: first.seq, to: last?.seq ?? first.seq, entries: entries.length, fault: null };
}

function faultOf(entry: AuditEntry, before: AuditEntry | null, gaps: boolean) {
  const follows = before !== null && entry.seq === before.seq + 1;
  if (before !== null && !follows && !gaps) return 'missing';
  const previous = follows ? before.hash : entry.seq === 1 ? FIRST_PREVIOUS_HASH : entry.previous_hash;
  if (entry.previous_hash !== previous) return 'unlinked';
  const { hash, ...rest } = entry;
  return sha256(entry.previous_hash + canonicalJson(rest)) === hash ? null : 'changed';
}

/** Checks the whole log from its first entry. `checked` is the number of entries so far. */
export function useWholeChain() {
  const [checked, setChecked] = useState(0);
  const whole = useMutation({
    mutationFn: async (): Promise<Chain> => {
      let chain: Chain = { from: 1, to: 0, entries: 0, fault: null };
      let last: AuditEntry | undefined;
      for (let after: number | null = 0; after !== null; ) {
        const page = await pageOf({ order: 'asc', limit: 1_000, after });
        if (last === undefined && page.entries[0] !== undefined && page.entries[0].seq !== 1)
          return { ...chain, fault: { seq: 1, kind: 'missing' } };
        const part = verifyChain(last === undefined ? page.entries : [last, ...page.entries], { gaps: false });
        if (part !== null) chain = { ...part, from: 1, entries: part.to };
        if (chain.fault !== null) return chain;
        setChecked(chain.to);
        last = page.entries.at(-1) ?? last;
        after = page.next;
      }
      return chain;
    },
  });
  return { ...whole, checked };
}
