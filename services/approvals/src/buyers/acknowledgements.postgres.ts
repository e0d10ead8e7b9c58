import { addPendingDocuments } from '@ecf/archive';
import { environmentRun, storableText } from '@ecf/domain';
import { type Database, queryBuilder, type Transaction } from '@ecf/postgres';
import type { Selectable } from 'kysely';
import type { DB, ReceivedAcknowledgement } from '../generated/tables.js';
import { makeKnown, type SignerColumns, signerColumns, signerFrom } from '../received/received-approvals.postgres.js';
import { presentRun } from '../sending/certification-runs.postgres.js';
import { confirmsReceipt, type NewAcknowledgement, type StoredAcknowledgement } from './acknowledgement.js';
import type { AcknowledgementStore } from './ports.js';

/** Acknowledgements in PostgreSQL. */
export function createAcknowledgementStore(database: Database): AcknowledgementStore {
  const ofIssuer = (env: string, issuerRnc: string) =>
    queryBuilder<DB>(database)
      .selectFrom('receivedAcknowledgements')
      .selectAll()
      .where('env', '=', env)
      .where('issuerRnc', '=', issuerRnc);
  return {
    async list({ env, issuerRnc, encf, receiptStatus, limit, offset }) {
      let query = ofIssuer(env, issuerRnc);
      if (encf !== null) query = query.where('encf', '=', encf);
      if (receiptStatus !== null) query = query.where('receiptStatus', '=', receiptStatus);
      const page = query.orderBy('receivedAt', 'desc').orderBy('id', 'desc').limit(limit).offset(offset);
      return (await page.execute()).map(acknowledgementFrom);
    },
    async find({ env, issuerRnc, encf }) {
      const row = await ofIssuer(env, issuerRnc)
        .where('encf', '=', encf)
        .orderBy('valid', 'desc')
        .orderBy('receivedAt', 'desc')
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? null : acknowledgementFrom(row);
    },
  };
}

/**
 * Adds the answer of the buyer's receiver (its host) with its bytes. An identical answer is kept once. If it confirms the
 * receipt, its signer is known for the buyer from then on. The answer to a document of an earlier certification run is stored
 * with that run.
 */
export async function addAcknowledgement(
  tx: Transaction,
  acknowledgement: NewAcknowledgement,
  receiver: string | null,
): Promise<void> {
  const { key, buyerRnc, xml, fault, bytes, signer, receivedAt } = acknowledgement;
  const { env, run = 1, issuerRnc, encf } = key;
  const added = await queryBuilder<DB>(tx)
    .insertInto('receivedAcknowledgements')
    .values({
      env: run < (await presentRun(tx, env, issuerRnc)) ? `${env}/${run}/${issuerRnc}` : env,
      issuerRnc,
      encf,
      buyerRnc,
      receiptStatus: acknowledgement.receiptStatus,
      rejectionCode: acknowledgement.motive,
      acknowledgedAt: acknowledgement.acknowledgedAt,
      receivedAt,
      valid: fault === null,
      validationError: fault === null ? null : storableText(fault),
      xmlPath: xml.path,
      xmlSha256: xml.sha256,
      receiver,
      ...(signer === null ? {} : signerColumns(signer)),
    })
    .onConflict((conflict) => conflict.columns(['env', 'issuerRnc', 'encf', 'xmlSha256']).doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added !== undefined) await addPendingDocuments(tx, [{ ...xml, bytes }]);
  if (signer !== null && confirmsReceipt(acknowledgement))
    await makeKnown(tx, { env, rnc: buyerRnc, signer, at: receivedAt });
}

/** A row of an earlier certification run has `<environment>/<run>/<RNC>` as its environment. */
function acknowledgementFrom({
  env,
  issuerRnc,
  encf,
  xmlPath,
  xmlSha256,
  ...row
}: Selectable<ReceivedAcknowledgement>): StoredAcknowledgement {
  return {
    ...row,
    key: { env: environmentRun(env).env, issuerRnc, encf },
    motive: row.rejectionCode,
    fault: row.validationError,
    xml: { path: xmlPath, sha256: xmlSha256 },
    signer: row.certificateFingerprint === null ? null : signerFrom(row as SignerColumns),
  };
}
