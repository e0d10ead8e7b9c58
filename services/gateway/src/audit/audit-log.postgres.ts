import { setTimeout as delay } from 'node:timers/promises';
import { once } from '@ecf/bus';
import type { AuditAct, AuditEntry, AuditFilter } from '@ecf/contracts';
import { withoutTrailingSlashes } from '@ecf/domain';
import { nextAuditEntry } from '@ecf/kit';
import type { Database, Queries } from '@ecf/postgres';
import type { AuditLog } from './ports.js';

/** The lock of the chain: one transaction appends at a time, until its end. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('ecf audit', 0))::text AS locked`;
const LAST = 'SELECT seq::text AS seq, hash FROM audit_entries ORDER BY audit_entries.seq DESC LIMIT 1';
const OF_ACT = 'SELECT 1 FROM audit_entries WHERE seq > $1 AND actor = $2 AND request_id = $3 LIMIT 1';
const APPEAR_MS = 1_000;
const POLL_MS = 20;
const APPEND = `INSERT INTO audit_entries (seq, at, actor, action, target, details, request_id, previous_hash, hash)
  VALUES ($1::bigint, $2, $3, $4, $5, $6::json, $7, $8, $9)`;
const pageIn = (order: 'asc' | 'desc') => ({
  name: `audit_page_${order}`,
  text: `SELECT seq::text AS seq, at, actor, action, target, details, request_id, previous_hash, hash FROM audit_entries
    WHERE seq ${order === 'asc' ? '>' : '<'} $1 AND ($3::text IS NULL OR actor = $3) AND ($4::text IS NULL OR action = $4)
      AND ($5::text IS NULL OR target = $5 OR starts_with(target, $5 || '/'))
    ORDER BY audit_entries.seq ${order} LIMIT $2`,
});
const PAGES = { asc: pageIn('asc'), desc: pageIn('desc') };

/** Appends acts to the chain in the transaction of their effect. Its last statement: the lock is held until the commit. */
export async function appendAudit(tx: Queries, acts: readonly AuditAct[]): Promise<void> {
  if (acts.length === 0) return;
  await tx.query(LOCK);
  const [row] = (await tx.query<{ seq: string; hash: string }>(LAST)).rows;
  let last = row === undefined ? null : { seq: Number(row.seq), hash: row.hash };
  for (const act of acts) {
    const entry: AuditEntry = nextAuditEntry(act, last);
    await tx.query(APPEND, [
      entry.seq,
      entry.at,
      entry.actor,
      entry.action,
      entry.target,
      JSON.stringify(entry.details),
      entry.request_id,
      entry.previous_hash,
      entry.hash,
    ]);
    last = entry;
  }
}

/** The audit log in the gateway's database. */
export function createAuditLog(database: Database): AuditLog {
  return {
    append: (acts) => database.transaction((tx) => appendAudit(tx, acts)),
    appendOnce: (group, eventId, act) =>
      database.transaction(async (tx) => {
        if (await once(tx, group, eventId)) await appendAudit(tx, [act]);
      }),
    async last() {
      const { rows } = await database.query<{ seq: string }>(LAST);
      return Number(rows[0]?.seq ?? 0);
    },
    async appeared(seq, { actor, request_id }) {
      for (let waited = 0; waited < APPEAR_MS; waited += POLL_MS) {
        const { rowCount } = await database.query(OF_ACT, [seq, actor, request_id]);
        if (rowCount > 0) return;
        await delay(POLL_MS);
      }
    },
    async page({ after, order, limit, actor, action, target }: AuditFilter) {
      const below =
        target === undefined ? null : withoutTrailingSlashes(target.startsWith('/') ? target : `/${target}`);
      const first = order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER;
      const filter = [after ?? first, limit, actor ?? null, action ?? null, below];
      const { rows } = await database.query<Omit<AuditEntry, 'seq'> & { seq: string }>(PAGES[order], filter);
      return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
    },
  };
}
