import { environmentRun, storableText } from '@ecf/domain';
import type { SignerFacts } from '@ecf/public-ingress';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import { makeKnown } from '../received/known-signers.postgres.js';
import { confirmsReceipt, type NewAcknowledgement, type StoredAcknowledgement } from './acknowledgement.js';
import type { AcknowledgementStore } from './ports.js';

const ACKNOWLEDGE = {
  name: 'acknowledgement_add',
  text: `INSERT INTO received_acknowledgements (env, issuer_rnc, encf, buyer_rnc, receipt_status, rejection_code,
           acknowledged_at, received_at, valid, validation_error, xml_path, xml_sha256, receiver, certificate_subject,
           certificate_serial, certificate_issuer, certificate_fingerprint, certificate_key, certificate_holder,
           certificate_trusted)
         VALUES (CASE WHEN $21 < coalesce((SELECT c.run FROM certification_run c WHERE c.env = $1 AND c.issuer_rnc = $2), 1)
           THEN $1 || '/' || $21 || '/' || $2 ELSE $1 END, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
         ON CONFLICT (env, issuer_rnc, encf, xml_sha256) DO NOTHING`,
};
const LIST_ACKNOWLEDGEMENTS = {
  name: 'acknowledgement_list',
  text: `SELECT * FROM received_acknowledgements
          WHERE env = $1 AND issuer_rnc = $2 AND ($3::text IS NULL OR encf = $3)
            AND ($4::smallint IS NULL OR receipt_status = $4)
          ORDER BY received_at DESC, id DESC LIMIT $5 OFFSET $6`,
};
const FIND_ACKNOWLEDGEMENT = {
  name: 'acknowledgement_find',
  text: `SELECT * FROM received_acknowledgements WHERE env = $1 AND issuer_rnc = $2 AND encf = $3
          ORDER BY valid DESC, received_at DESC, id DESC LIMIT 1`,
};
interface AcknowledgementRow {
  id: number;
  /** A row of an earlier certification run has `<environment>/<run>/<RNC>` here. */
  env: string;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  receipt_status: 0 | 1 | null;
  rejection_code: 1 | 2 | 3 | 4 | null;
  acknowledged_at: Date | null;
  received_at: Date;
  validation_error: string | null;
  xml_path: string;
  xml_sha256: string;
  receiver: string | null;
  certificate_subject: string | null;
  certificate_serial: string | null;
  certificate_issuer: string | null;
  certificate_fingerprint: string | null;
  certificate_key: string | null;
  certificate_holder: string | null;
  certificate_trusted: boolean | null;
}

/** Acknowledgements in PostgreSQL. */
export function createAcknowledgementStore(database: Database): AcknowledgementStore {
  return {
    async list({ env, issuerRnc, encf, receiptStatus, limit, offset }) {
      const params = [env, issuerRnc, encf, receiptStatus, limit, offset];
      const { rows } = await database.query<AcknowledgementRow>(LIST_ACKNOWLEDGEMENTS, params);
      return rows.map(fromAcknowledgementRow);
    },
    async find(key) {
      const { rows } = await database.query<AcknowledgementRow>(FIND_ACKNOWLEDGEMENT, [
        key.env,
        key.issuerRnc,
        key.encf,
      ]);
      return rows[0] === undefined ? null : fromAcknowledgementRow(rows[0]);
    },
  };
}

/**
 * Adds the answer of the buyer's receiver (its host) with its bytes. An identical answer is kept once. If it confirms the
 * receipt, its signer is known for the buyer from then on.
 */
export async function addAcknowledgement(
  tx: Transaction,
  acknowledgement: NewAcknowledgement,
  receiver: string | null,
): Promise<void> {
  const { key, xml, fault, bytes, signer } = acknowledgement;
  const { rowCount } = await tx.query(ACKNOWLEDGE, [
    key.env,
    key.issuerRnc,
    key.encf,
    acknowledgement.buyerRnc,
    acknowledgement.receiptStatus,
    acknowledgement.motive,
    acknowledgement.acknowledgedAt,
    acknowledgement.receivedAt,
    fault === null,
    fault === null ? null : storableText(fault),
    xml.path,
    xml.sha256,
    receiver,
    signer?.subject,
    signer?.serialNumber,
    signer?.issuer,
    signer?.fingerprint,
    signer?.keyFingerprint,
    signer?.holderId,
    signer?.trusted,
    key.run ?? 1,
  ]);
  if (rowCount > 0) await addPendingDocuments(tx, [{ ...xml, bytes }]);
  if (signer !== null && confirmsReceipt(acknowledgement))
    await makeKnown(tx, { env: key.env, rnc: acknowledgement.buyerRnc, signer, at: acknowledgement.receivedAt });
}

function fromAcknowledgementRow(row: AcknowledgementRow): StoredAcknowledgement {
  return {
    id: row.id,
    key: { env: environmentRun(row.env).env, issuerRnc: row.issuer_rnc, encf: row.encf },
    buyerRnc: row.buyer_rnc,
    receiptStatus: row.receipt_status,
    motive: row.rejection_code,
    acknowledgedAt: row.acknowledged_at,
    receivedAt: row.received_at,
    fault: row.validation_error,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    receiver: row.receiver,
    signer: signerOf(row),
  };
}

function signerOf(row: AcknowledgementRow): SignerFacts | null {
  if (row.certificate_fingerprint === null) return null;
  return {
    subject: row.certificate_subject ?? '',
    serialNumber: row.certificate_serial ?? '',
    issuer: row.certificate_issuer ?? '',
    fingerprint: row.certificate_fingerprint,
    keyFingerprint: row.certificate_key ?? '',
    holderId: row.certificate_holder,
    trusted: row.certificate_trusted,
  };
}
