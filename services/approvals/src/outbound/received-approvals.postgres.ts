import type { ApprovalChanged } from '@ecf/contracts';
import { type Environment, toIsoDominican } from '@ecf/domain';
import { appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import { statusWord } from '../core/given/given-approval.js';
import type { NewReceivedApproval, ReceivedApprovalStore } from '../core/ports.js';
import { approvalEvent } from './approval-rows.js';

const FIND = {
  name: 'received_approval_find',
  text: 'SELECT * FROM received_approvals WHERE env = $1 AND issuer_rnc = $2 AND encf = $3',
};
const ADD = {
  name: 'received_approval_add',
  text: `INSERT INTO received_approvals (env, issuer_rnc, encf, buyer_rnc, account_id, decision, reason, decided_at, received_at,
           bytes, xml_path, xml_sha256, certificate_subject, certificate_serial, certificate_fingerprint,
           certificate_holder, canonical, request_id, sender)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
         ON CONFLICT (env, issuer_rnc, encf) DO NOTHING`,
};
const REFUSE = {
  name: 'refused_approval_add',
  text: `INSERT INTO refused_approvals (env, issuer_rnc, encf, buyer_rnc, reason, received_at, bytes, sha256, xml_path,
           request_id, sender)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
};

/** Approvals of buyers in PostgreSQL: the first one for an e-CF is the one. */
export function createReceivedApprovalStore(database: Database): ReceivedApprovalStore {
  return {
    async find({ env, issuerRnc, encf }) {
      const { rows } = await database.query<ReceivedApprovalRow>(FIND, [env, issuerRnc, encf]);
      return rows[0] === undefined ? null : fromRow(rows[0]);
    },
    add(approval, bytes) {
      return database.transaction(async (tx) => {
        const { key, signer } = approval;
        const { rowCount } = await tx.query(ADD, [
          key.env,
          key.issuerRnc,
          key.encf,
          key.buyerRnc,
          approval.accountId,
          approval.decision,
          approval.reason,
          approval.decidedAt,
          approval.receivedAt,
          approval.bytes,
          approval.xml.path,
          approval.xml.sha256,
          signer.subject,
          signer.serialNumber,
          signer.fingerprint,
          signer.holderId,
          approval.canonical,
          approval.requestId,
          approval.sender,
        ]);
        if (rowCount === 0) return false;
        await addPendingDocuments(tx, [{ ...approval.xml, bytes }]);
        await appendToOutbox(tx, [approvalEvent(decisionReceived(approval), approval.receivedAt)]);
        return true;
      });
    },
    async refuse(refusal, bytes) {
      const { sha256, xmlPath } = refusal;
      await database.transaction(async (tx) => {
        if (xmlPath !== null) await addPendingDocuments(tx, [{ path: xmlPath, sha256, bytes }]);
        await tx.query(REFUSE, [
          refusal.env,
          refusal.issuerRnc,
          refusal.encf,
          refusal.buyerRnc,
          refusal.reason,
          refusal.receivedAt,
          refusal.bytes,
          sha256,
          xmlPath,
          refusal.requestId,
          refusal.sender,
        ]);
      });
    },
  };
}

/** The buyer's decision as it is published. It never changes. */
export function decisionReceived({ key, decision, decidedAt }: ReceivedDecision): ApprovalChanged {
  return {
    direction: 'received',
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: key.buyerRnc,
    revision: 1,
    approval_status: statusWord(decision),
    approval_datetime: toIsoDominican(decidedAt),
  };
}

type ReceivedDecision = Pick<NewReceivedApproval, 'key' | 'decision' | 'decidedAt'>;

/** A row of `received_approvals`. */
export interface ReceivedApprovalRow {
  env: Environment;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  account_id: string;
  decision: 1 | 2;
  reason: string | null;
  decided_at: Date;
  received_at: Date;
  bytes: number;
  xml_path: string;
  xml_sha256: string;
  certificate_subject: string;
  certificate_serial: string;
  certificate_fingerprint: string;
  certificate_holder: string | null;
  canonical: 'as-is' | 'whitespace-dropped';
  request_id: string;
  sender: string | null;
}

/** The approval of a row. */
export function fromRow(row: ReceivedApprovalRow): NewReceivedApproval {
  return {
    key: { env: row.env, buyerRnc: row.buyer_rnc, issuerRnc: row.issuer_rnc, encf: row.encf },
    accountId: row.account_id,
    decision: row.decision,
    reason: row.reason,
    decidedAt: row.decided_at,
    receivedAt: row.received_at,
    bytes: row.bytes,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    signer: {
      subject: row.certificate_subject,
      serialNumber: row.certificate_serial,
      issuer: '',
      fingerprint: row.certificate_fingerprint,
      keyFingerprint: '',
      holderId: row.certificate_holder,
      trusted: null,
    },
    canonical: row.canonical,
    requestId: row.request_id,
    sender: row.sender,
  };
}
