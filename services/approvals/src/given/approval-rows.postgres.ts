import { randomUUID } from 'node:crypto';
import { documentKey, TOPICS } from '@ecf/contracts';
import { environmentRun, storableText } from '@ecf/domain';
import { makeEvent } from '@ecf/service-kit/bus';
import type { ActSource } from '@ecf/service-kit/outbox';
import type { Exchange } from '../ports.js';
import type { DecisionKey, GivenApproval } from './given-approval.js';

/** Acts in this service, for the audit log. */
export const ACTS: ActSource = { topic: TOPICS.audit.name, source: 'approvals' };

/** An `approval.changed` event; `data` is checked by the topic's schema. */
export function approvalEvent(
  data: { env: string; issuer_rnc: string; encf: string; run?: number | undefined },
  at: Date,
) {
  return makeEvent(
    {
      topic: TOPICS.approvals.name,
      type: 'approval.changed',
      source: 'approvals',
      subject: `${data.issuer_rnc}:${data.encf}`,
      key: documentKey(data),
      data,
    },
    { id: randomUUID(), time: at },
  );
}

/** As statements name a document. */
export function keyValues(key: DecisionKey): string[] {
  return [key.env, key.buyerRnc, key.issuerRnc, key.encf];
}

/** As a row of `approval_exchanges`. */
export function exchangeValues(id: number, exchange: Exchange): unknown[] {
  const { target, at, outcome, httpStatus, contentType, body } = exchange;
  return [id, target, at, outcome, httpStatus, contentType, body === null ? null : storableText(body)];
}

/** A row of `given_approvals`. */
export interface ApprovalRow {
  id: number;
  /** Of the run before, with the run and an RNC. */
  env: string;
  buyer_rnc: string;
  issuer_rnc: string;
  encf: string;
  account_id: string;
  created_by: string | null;
  ecf_document_id: number | null;
  decision: 1 | 2;
  rejection_code: number | null;
  rejection_description: string | null;
  decided_at: Date;
  date_issued: string;
  total_amount: string;
  warnings: string[];
  xml_path: string;
  xml_sha256: string;
  created_at: Date;
  submitted_at: Date | null;
  settled_at: Date | null;
  settled_note: string | null;
  authority_status: GivenApproval['authority']['status'];
  authority_response: string | null;
  authority_sent_at: Date | null;
  authority_tries: number;
  issuer_status: GivenApproval['issuer']['status'];
  issuer_error: string | null;
  issuer_sent_at: Date | null;
  issuer_tries: number;
  issuer_retried_at: Date | null;
  issuer_retried_tries: number;
  superseded_at: Date | null;
}

/** The record that a row holds. */
export function fromRow(row: ApprovalRow): GivenApproval {
  return {
    id: row.id,
    key: { env: environmentRun(row.env).env, buyerRnc: row.buyer_rnc, issuerRnc: row.issuer_rnc, encf: row.encf },
    accountId: row.account_id,
    createdBy: row.created_by,
    ecfDocumentId: row.ecf_document_id,
    decision: row.decision,
    rejectionCode: row.rejection_code,
    rejectionDescription: row.rejection_description,
    decidedAt: row.decided_at,
    dateIssued: row.date_issued,
    totalAmount: row.total_amount,
    warnings: row.warnings,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    supersededAt: row.superseded_at,
    settled: row.settled_at === null ? null : { at: row.settled_at, note: row.settled_note ?? '' },
    authority: {
      status: row.authority_status,
      response: row.authority_response,
      sentAt: row.authority_sent_at,
      tries: row.authority_tries,
    },
    issuer: {
      status: row.issuer_status,
      error: row.issuer_error,
      sentAt: row.issuer_sent_at,
      tries: row.issuer_tries,
      retried: row.issuer_retried_at === null ? null : { at: row.issuer_retried_at, tries: row.issuer_retried_tries },
    },
  };
}
