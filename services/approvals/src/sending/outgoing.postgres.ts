import { randomUUID } from 'node:crypto';
import { environmentRun } from '@ecf/domain';
import { camelCaseRows, type Database, sqlState, type Transaction } from '@ecf/postgres';
import type { Selectable } from 'kysely';
import { messageOf, Unwritable } from '../errors.js';
import type { OutgoingDocument } from '../generated/tables.js';
import type { Claimed, Ending, Outgoing } from './outgoing.js';
import type { OutgoingStore } from './ports.js';

/** Rows that one claim examines. Where those of one recipient or host fill it, the next claim leaves that one out. */
const EXAMINED = 1_000;

// There are hundreds of names. PostgreSQL hashes the sub-selects; it would search plain arrays for every row. A claim whose
// lease ended was never recorded, so its send may have reached the recipient. An approval counts as possibly taken while a
// send is in flight.
const CLAIM = {
  name: 'outgoing_claim',
  text: `WITH due AS (
           SELECT id, due_at, recipient, host FROM outgoing_documents
            WHERE due_at <= $1 AND recipient NOT IN (SELECT unnest($5::text[]))
              AND (host IS NULL OR host NOT IN (SELECT unnest($7::text[]))) AND id NOT IN (SELECT unnest($10::bigint[]))
            ORDER BY due_at LIMIT ${EXAMINED}),
         of_recipient AS (
           SELECT *, row_number() OVER (PARTITION BY recipient ORDER BY due_at, id) AS number FROM due),
         of_host AS (
           SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY due_at, id) AS number FROM of_recipient
            WHERE number <= coalesce(($6::jsonb ->> recipient)::int, 1)),
         picked AS (
           SELECT d.id FROM outgoing_documents d JOIN of_host USING (id)
            WHERE d.due_at <= $1
              AND (of_host.host IS NULL OR of_host.number <= coalesce(($8::jsonb ->> of_host.host)::int, $9::int))
            ORDER BY d.due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
         UPDATE outgoing_documents d SET due_at = $2, claim = $4, tries = d.tries + 1,
           uncertain = d.uncertain OR d.claim IS NOT NULL,
           status = CASE d.kind WHEN 'authority' THEN 'submitted' WHEN 'issuer' THEN 'pending' ELSE d.status END
         FROM picked WHERE d.id = picked.id RETURNING d.*`,
};
const RENEW = {
  name: 'outgoing_renew',
  text: `WITH renewed AS (
           SELECT d.id FROM outgoing_documents d JOIN unnest($1::bigint[], $2::uuid[]) AS k(id, claim) USING (id, claim)
            ORDER BY d.id FOR UPDATE OF d)
         UPDATE outgoing_documents d SET due_at = greatest(d.due_at, $3) FROM renewed WHERE d.id = renewed.id`,
};
const DEFER = {
  name: 'outgoing_defer',
  text: `UPDATE outgoing_documents SET due_at = $4, claim = NULL, tries = tries - 1, host = $3 WHERE id = $1 AND claim = $2`,
};
/**
 * An ending counts if the claim still holds, or if the recipient took the document ($9), which is final. The fact that it may
 * have arrived is always recorded.
 */
const CONCLUDE = {
  name: 'outgoing_conclude',
  text: `UPDATE outgoing_documents d SET sent_at = coalesce(d.sent_at, $8),
           status = CASE WHEN counts THEN $3 WHEN d.due_at IS NOT NULL AND $8 IS NOT NULL THEN $10 ELSE d.status END,
           due_at = CASE WHEN counts THEN $4 ELSE d.due_at END, claim = CASE WHEN counts THEN NULL ELSE d.claim END,
           last_error = CASE WHEN counts THEN $5 ELSE d.last_error END,
           needs_certificate = CASE WHEN counts THEN $6 ELSE d.needs_certificate END,
           host = CASE WHEN counts THEN $7 ELSE d.host END,
           revision = d.revision + CASE WHEN counts AND (d.status <> $3 OR $4::timestamptz IS NULL) THEN 1 ELSE 0 END
          FROM (SELECT id, coalesce(claim = $2, false) OR ($9::boolean AND status <> $3) AS counts
                  FROM outgoing_documents WHERE id = $1 FOR UPDATE) own
         WHERE d.id = own.id RETURNING d.*, own.counts`,
};
/** The error of a delivery that was never tried. */
const NEVER_REACHED = 'The receiver failed repeatedly and got no calls until the deadline.';
/** Rows of one statement; the rest follows. */
const GIVEN_UP_TOGETHER = 500;
const GIVE_UP = {
  name: 'outgoing_give_up',
  text: `WITH ended AS (
           SELECT id FROM outgoing_documents WHERE kind = 'delivery' AND due_at <= $1 AND deadline_at <= $1
              AND (recipient IN (SELECT unnest($2::text[])) OR host IN (SELECT unnest($3::text[])))
            ORDER BY id LIMIT ${GIVEN_UP_TOGETHER} FOR UPDATE SKIP LOCKED)
         UPDATE outgoing_documents d SET status = 'failed', due_at = NULL, claim = NULL, needs_certificate = false,
           revision = d.revision + 1, last_error = coalesce(d.last_error, '${NEVER_REACHED}')
         FROM ended WHERE d.id = ended.id RETURNING d.*`,
};

/** Classes of SQLSTATE: data exception, integrity constraint, program limit. Another try fails again. */
const REFUSED_VALUE = ['22', '23', '54'];

/** A row of `outgoing_documents`. */
export type OutgoingRow = Selectable<OutgoingDocument>;

/** Outgoing documents in PostgreSQL. `gaveUp` publishes deliveries that were given up, in the same transaction. */
export function createOutgoingStore(
  database: Database,
  gaveUp: (tx: Transaction, rows: readonly OutgoingRow[], now: Date) => Promise<void>,
): OutgoingStore {
  return {
    async claimDue(request) {
      const { rows } = await database.query(CLAIM, [
        request.now,
        request.until,
        request.limit,
        randomUUID(),
        request.busyRecipients,
        JSON.stringify(request.recipientSlots),
        request.busyHosts,
        JSON.stringify(request.hostSlots),
        request.slotsPerHost,
        request.inFlight,
      ]);
      return camelCaseRows<OutgoingRow>(rows).map(claimedFrom);
    },
    async renew(items, until) {
      await database.query(RENEW, [items.map(({ id }) => id), items.map(({ claim }) => claim), until]);
    },
    async defer({ id, claim }, host, dueAt) {
      await database.query(DEFER, [id, claim, host, dueAt]);
    },
    giveUp: ({ now, recipients, hosts }) =>
      database.transaction(async (tx) => {
        const ended = camelCaseRows<OutgoingRow>((await tx.query(GIVE_UP, [now, recipients, hosts])).rows);
        await gaveUp(tx, ended, now);
        return ended.map(outgoingFrom);
      }),
  };
}

/**
 * Records an ending; null if the document does not exist.
 * @param taken the recipient took the document: that counts even if another instance holds the claim by now
 * @param open the status of a document that may have arrived although this ending does not count
 */
export async function concludeOutgoing(
  tx: Transaction,
  { id, claim }: Pick<Claimed, 'id' | 'claim'>,
  ending: Pick<Ending, 'status' | 'dueAt' | 'error' | 'needsCertificate' | 'host' | 'sentAt'>,
  { taken, open }: { readonly taken: boolean; readonly open: Outgoing['status'] },
): Promise<(OutgoingRow & { counts: boolean }) | null> {
  const { status, dueAt, error, needsCertificate, host, sentAt } = ending;
  const values = [id, claim, status, dueAt, error, needsCertificate, host, sentAt, taken, open];
  const { rows } = await tx.query(CONCLUDE, values);
  return camelCaseRows<OutgoingRow & { counts: boolean }>(rows)[0] ?? null;
}

export function outgoingFrom({ env, issuerRnc, encf, xmlPath, xmlSha256, ...row }: OutgoingRow): Outgoing {
  return { ...row, key: { ...environmentRun(env), issuerRnc, encf }, xml: { path: xmlPath, sha256: xmlSha256 } };
}

export function claimedFrom(row: OutgoingRow): Claimed {
  return { ...outgoingFrom(row), claim: row.claim as string };
}

/** Rethrows the error of a write, as {@link Unwritable} where PostgreSQL refuses the value. */
export function unwritable(error: unknown): never {
  if (!REFUSED_VALUE.includes(sqlState(error)?.slice(0, 2) ?? '')) throw error;
  throw new Unwritable(messageOf(error), { cause: error });
}
