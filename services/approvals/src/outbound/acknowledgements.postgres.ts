import { type Environment, storableText } from '@ecf/domain';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import type { NewAcknowledgement, StoredAcknowledgement } from '../core/acknowledgements/acknowledgement.js';
import type { AcknowledgementStore } from '../core/deliveries/delivery-ports.js';
import { keyValues } from './delivery-rows.js';

const ACKNOWLEDGE = {
  name: 'acknowledgement_add',
  text: `INSERT INTO received_acknowledgements (env, issuer_rnc, encf, buyer_rnc, receipt_status, rejection_code,
           acknowledged_at, received_at, valid, validation_error, xml_path, xml_sha256)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
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
  env: Environment;
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
      const { rows } = await database.query<AcknowledgementRow>(FIND_ACKNOWLEDGEMENT, keyValues(key));
      return rows[0] === undefined ? null : fromAcknowledgementRow(rows[0]);
    },
  };
}

/** Adds a buyer's answer with its bytes. An identical answer is kept once. */
export async function addAcknowledgement(tx: Transaction, acknowledgement: NewAcknowledgement): Promise<void> {
  const { key, xml, fault, bytes } = acknowledgement;
  const { rowCount } = await tx.query(ACKNOWLEDGE, [
    ...keyValues(key),
    acknowledgement.buyerRnc,
    acknowledgement.receiptStatus,
    acknowledgement.motive,
    acknowledgement.acknowledgedAt,
    acknowledgement.receivedAt,
    fault === null,
    fault === null ? null : storableText(fault),
    xml.path,
    xml.sha256,
  ]);
  if (rowCount > 0) await addPendingDocuments(tx, [{ ...xml, bytes }]);
}

function fromAcknowledgementRow(row: AcknowledgementRow): StoredAcknowledgement {
  return {
    id: row.id,
    key: { env: row.env, issuerRnc: row.issuer_rnc, encf: row.encf },
    buyerRnc: row.buyer_rnc,
    receiptStatus: row.receipt_status,
    motive: row.rejection_code,
    acknowledgedAt: row.acknowledged_at,
    receivedAt: row.received_at,
    fault: row.validation_error,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
  };
}
