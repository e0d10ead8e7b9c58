import { randomUUID } from 'node:crypto';
import { once } from '@ecf/bus';
import type { ReceivedInvoiceDecision } from '@ecf/contracts';
import { type Database, queryBuilder, type Statement, type Transaction } from '@ecf/postgres';
import { setAside } from '@ecf/taxpayer-replica';
import type { DB } from '../generated/tables.js';
import type { DecisionStore } from './ports.js';
import { publishChange } from './received-documents.postgres.js';

/** The consumer group of this service; also the name under which handled events are noted. */
export const RECEPTION_GROUP = 'reception';

/** Statements for `setAside`. They set aside the documents that came to the taxpayer or from it. */
const SET_ASIDE: readonly Statement[] = ['received_documents', 'refused_documents'].map((table) => ({
  name: `${table}_set_aside`,
  text: `UPDATE ${table} SET env = $3
          WHERE env = $1 AND (buyer_rnc = $2 OR issuer_rnc = $2) AND received_at < $4`,
}));

/** What events of other services change in the received documents, in PostgreSQL. */
export function createDecisions(database: Database, makeId: () => string = randomUUID): DecisionStore {
  return {
    async decide(decision, eventId) {
      await database.transaction(async (tx) => {
        if (!(await once(tx, RECEPTION_GROUP, eventId))) return;
        const document = await lockForDecision(tx, decision);
        if (document === undefined || document.approvalRevision >= decision.revision) return;
        const set = ', approval_status = $2, approval_datetime = $3, approval_revision = $4';
        const values = [decision.approval_status, decision.approval_datetime, decision.revision];
        const at = new Date(decision.approval_datetime ?? document.receivedAt);
        await publishChange(tx, { id: document.id, at, set, values }, makeId);
      });
    },
    start: (run) => database.transaction((tx) => setAside(tx, SET_ASIDE, run)),
  };
}

/**
 * Locks the document of a decision. If it has not arrived yet, the decision is stored for its arrival. A lock on the number
 * keeps arrivals back meanwhile, so either the decision finds the document or the document finds the decision.
 */
async function lockForDecision(tx: Transaction, decision: ReceivedInvoiceDecision) {
  const { env, buyer_rnc, issuer_rnc, encf, revision, approval_status, approval_datetime } = decision;
  const builder = queryBuilder<DB>(tx);
  const find = () =>
    builder
      .selectFrom('receivedDocuments')
      .select(['id', 'receivedAt', 'approvalRevision'])
      .where('env', '=', env)
      .where('buyerRnc', '=', buyer_rnc)
      .where('encf', '=', encf)
      .where('issuerRnc', '=', issuer_rnc)
      .forUpdate()
      .executeTakeFirst();
  const document = await find();
  if (document !== undefined) return document;
  await tx.query('SELECT pg_advisory_xact_lock(document_number_lock($1, $2, $3, $4))', [
    env,
    buyer_rnc,
    issuer_rnc,
    encf,
  ]);
  const arrived = await find();
  if (arrived !== undefined) return arrived;
  const state = { revision, approvalStatus: approval_status, approvalDatetime: approval_datetime };
  await builder
    .insertInto('earlyDecisions')
    .values({ env, buyerRnc: buyer_rnc, issuerRnc: issuer_rnc, encf, ...state })
    .onConflict((conflict) =>
      conflict
        .columns(['env', 'buyerRnc', 'issuerRnc', 'encf'])
        .doUpdateSet(state)
        .where('earlyDecisions.revision', '<', revision),
    )
    .execute();
  return undefined;
}
