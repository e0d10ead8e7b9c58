import { randomUUID } from 'node:crypto';
import { addPendingDocuments } from '@ecf/archive';
import { appendToOutbox } from '@ecf/bus';
import { type Database, type Queries, queryBuilder, type Transaction } from '@ecf/postgres';
import { newConfirmation } from '../confirmation/new-confirmation.postgres.js';
import type { DB } from '../generated/tables.js';
import type { DocumentStore } from './ports.js';
import type { DocumentKey, NewRefusedDocument } from './received-document.js';
import { conflictsOf, publishChange } from './received-documents.postgres.js';
import { refusalEvents } from './received-events.js';

/** Refused documents in PostgreSQL, each with its event in one transaction. */
export function createRefusals(
  database: Database,
  makeId: () => string = randomUUID,
): Pick<DocumentStore, 'refuse' | 'wasRefused' | 'competitor' | 'keptRefusal'> {
  return {
    async refuse(refusal, files) {
      await database.transaction(async (tx) => {
        await addPendingDocuments(tx, files);
        if (refusal.competes) await compete(tx, refusal, makeId);
        else await insert(tx, refusal);
        await appendToOutbox(tx, refusalEvents(refusal, makeId()));
      });
    },
    async wasRefused({ motive, reason, ...key }) {
      const found = await underNumber(database, key)
        .select('id')
        .where('motive', '=', motive)
        .where('reason', '=', reason)
        .executeTakeFirst();
      return found !== undefined;
    },
    async competitor(holderId, document) {
      const found = await findCompetitor(database, holderId, document);
      if (found === undefined) return null;
      const { xmlPath: path, sha256, status } = found;
      return { kept: path === null ? null : { path, sha256 }, confirmed: status === 'confirmed' };
    },
    async keptRefusal(key, contentSha256) {
      // The latest one is found first, however often the same document was refused.
      const found = await underNumber(database, key)
        .select(['xmlPath as path', 'sha256'])
        .where('contentSha256', '=', contentSha256)
        .where('xmlPath', 'is not', null)
        .orderBy('id', 'desc')
        .$narrowType<{ path: string }>()
        .executeTakeFirst();
      return found ?? null;
    },
  };
}

/** The refused documents under a number; one is enough. */
function underNumber(queries: Queries, { env, buyerRnc, encf, issuerRnc }: DocumentKey) {
  return queryBuilder<DB>(queries)
    .selectFrom('refusedDocuments')
    .where('env', '=', env)
    .where('buyerRnc', '=', buyerRnc)
    .where('encf', '=', encf)
    .where('issuerRnc', '=', issuerRnc)
    .limit(1);
}

/** Inserts a refusal. `conflict` names the document with which it competes, and its own id among received documents. */
async function insert(
  queries: Queries,
  { competes: _, confirmable: __, notify: ___, holderId, faults, ...columns }: NewRefusedDocument,
  conflict: { readonly conflictOf: number; readonly documentId: number } | null = null,
): Promise<void> {
  await queryBuilder<DB>(queries)
    .insertInto('refusedDocuments')
    .values((eb) => ({
      ...columns,
      ...conflict,
      faults: JSON.stringify(faults),
      // The document that holds the number may lose it meanwhile.
      holderId: eb.selectFrom('receivedDocuments').select('id').where('id', '=', holderId),
    }))
    .execute();
}

/** Records a refused document that competes for the number of a received one. */
async function compete(tx: Transaction, refusal: NewRefusedDocument, makeId: () => string): Promise<void> {
  const { env, buyerRnc, encf, issuerRnc, confirmable, acknowledgedAt, sha256, xmlPath } = refusal;
  const builder = queryBuilder<DB>(tx);
  const holder = await builder
    .selectFrom('receivedDocuments')
    .select(['id', 'xmlSha256'])
    .where('env', '=', env)
    .where('buyerRnc', '=', buyerRnc)
    .where('encf', '=', encf)
    .where('issuerRnc', '=', issuerRnc)
    .forUpdate()
    .executeTakeFirst();
  // Since the request was decided, this document took the number itself, or the holder lost it.
  if (holder === undefined || holder.xmlSha256 === sha256) return insert(tx, refusal);
  const present = { ...refusal, holderId: holder.id };
  const earlier = await findCompetitor(tx, holder.id, refusal);
  let kept = xmlPath !== null;
  if (earlier === undefined) {
    const documentId = await nextId(tx);
    await insert(tx, present, { conflictOf: holder.id, documentId });
    const confirmation = confirmable && newConfirmation(documentId, refusal, confirmable, acknowledgedAt);
    if (confirmation !== null) await builder.insertInto('confirmations').values(confirmation).execute();
  } else {
    await insert(tx, present);
    // When the document came first, its quota was used up.
    if (kept) kept = await keep(tx, earlier.id, refusal);
  }
  if (!kept) return;
  // A competitor that is not shown does not change what readers see.
  const shown = (await conflictsOf(tx, [holder.id])).get(holder.id) ?? [];
  if (shown.some((conflict) => conflict.sha256 === sha256))
    await publishChange(tx, { id: holder.id, at: acknowledgedAt }, makeId);
}

async function nextId(tx: Transaction): Promise<number> {
  const { rows } = await tx.query<{ id: number }>(`SELECT nextval('received_documents_id_seq') AS id`);
  return rows[0]?.id as number;
}

/**
 * Keeps the bytes of a competing document that came before without being kept. False if they were kept meanwhile. If the
 * authority confirmed the document, it takes the number when the authority is queried about it once more.
 */
async function keep(
  tx: Transaction,
  id: number,
  { xmlPath, sha256, bytes, acknowledgedAt }: NewRefusedDocument,
): Promise<boolean> {
  const builder = queryBuilder<DB>(tx);
  const kept = await builder
    .updateTable('refusedDocuments')
    .set({ xmlPath, sha256, bytes })
    .where('id', '=', id)
    .where('xmlPath', 'is', null)
    .returning('documentId')
    .executeTakeFirst();
  if (kept === undefined) return false;
  await builder
    .updateTable('confirmations')
    .set({ dueAt: acknowledgedAt })
    .where('documentId', '=', kept.documentId)
    .execute();
  return true;
}

/**
 * Finds the same document among the competitors of a received one: one with the same signed content, even if the bytes
 * outside differ.
 */
function findCompetitor(
  queries: Queries,
  holderId: number,
  { sha256, contentSha256 }: Pick<NewRefusedDocument, 'sha256' | 'contentSha256'>,
) {
  return queryBuilder<DB>(queries)
    .selectFrom('refusedDocuments as r')
    .leftJoin('confirmations as c', 'c.documentId', 'r.documentId')
    .select(['r.id', 'r.xmlPath', 'r.sha256', 'c.status'])
    .where('r.conflictOf', '=', holderId)
    .where(({ eb, or }) => or([eb('r.sha256', '=', sha256), eb('r.contentSha256', '=', contentSha256)]))
    .orderBy('r.id')
    .executeTakeFirst();
}
