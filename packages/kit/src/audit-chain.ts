import { createHash } from 'node:crypto';
import { type AuditAct, type AuditEntry, auditEntrySchema } from '@ecf/contracts';
import { canonicalJson } from './canonical-json.js';

/** `previous_hash` of the first entry. */
const FIRST_PREVIOUS_HASH = '0'.repeat(64);

/** SHA-256 in hex of `previous_hash` and the canonical JSON of the entry without `hash`. */
export function auditHash(entry: Omit<AuditEntry, 'hash'>): string {
  return createHash('sha256').update(entry.previous_hash).update(canonicalJson(entry)).digest('hex');
}

/** The entry of an act after `last`; null = there is none. */
export function nextAuditEntry(act: AuditAct, last: Pick<AuditEntry, 'seq' | 'hash'> | null): AuditEntry {
  const place = { seq: (last?.seq ?? 0) + 1, previous_hash: last?.hash ?? FIRST_PREVIOUS_HASH };
  const { at, actor, action, target, details, request_id } = act;
  const entry = { seq: place.seq, at, actor, action, target, details, request_id, previous_hash: place.previous_hash };
  return { ...entry, hash: auditHash(entry) };
}

/** Checks a chain entry by entry, from the first; each call returns the fault of its entry, or null. */
export function createAuditCheck(): { next(value: unknown): string | null; last(): AuditEntry | null } {
  let last: AuditEntry | null = null;
  return {
    last: () => last,
    next(value) {
      const read = auditEntrySchema.strict().safeParse(value);
      if (!read.success) return `this is not an entry: ${read.error.issues[0]?.message ?? 'unreadable'}`;
      const entry = read.data;
      const [expected, previous] = [(last?.seq ?? 0) + 1, last?.hash ?? FIRST_PREVIOUS_HASH];
      if (entry.seq > expected) return `entry ${expected} is missing`;
      if (entry.seq < expected) return `entry ${entry.seq} is repeated`;
      if (entry.previous_hash !== previous) return `entry ${entry.seq} does not follow the entry before it`;
      const { hash, ...rest } = entry;
      if (auditHash(rest) !== hash) return `entry ${entry.seq} was changed`;
      last = entry;
      return null;
    },
  };
}
