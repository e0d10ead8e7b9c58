import { serviceExists } from '@ecf/authority-client';
import type { Environment } from '@ecf/domain';
import type { Queries } from '@ecf/service-kit/postgres';
import type { ConfirmableFacts, DocumentKey } from '../receive/received-document.js';
import type { Confirmation, QueriedStatus } from './confirmation.js';
import { FIRST_QUERY_MS } from './schedule.js';

/** Whether the authority answers queries about received documents there. */
export function isConfirmable(env: Environment): boolean {
  return serviceExists('consultaestado', env);
}

/** First queries come before repeated ones, and those about documents of known signers before strangers'. */
export const PRIORITY = { known: 0, stranger: 1, repeat: 2 } as const;

/** A row of `confirmations`. */
export interface ConfirmationRow {
  document_id: number;
  env: Environment;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  security_code: string;
  total_amount: string;
  status: QueriedStatus;
  checked_at: Date | null;
  answers: number;
  failures: number;
  priority: (typeof PRIORITY)[keyof typeof PRIORITY];
  due_at: Date | null;
}

/** Columns of a new row; the rest has defaults. */
export const NEW_CONFIRMATION_COLUMNS = [
  'document_id',
  'env',
  'issuer_rnc',
  'encf',
  'buyer_rnc',
  'security_code',
  'total_amount',
  'priority',
  'due_at',
] as const satisfies readonly (keyof ConfirmationRow)[];

export type NewConfirmationRow = Pick<ConfirmationRow, (typeof NEW_CONFIRMATION_COLUMNS)[number]>;

/** The row of a new document; null if the authority cannot be queried. */
export function newConfirmationRow(
  documentId: number,
  key: DocumentKey,
  { securityCode, totalAmount, signerKnown }: ConfirmableFacts,
  acknowledgedAt: Date,
): NewConfirmationRow | null {
  if (!isConfirmable(key.env)) return null;
  return {
    document_id: documentId,
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: key.buyerRnc,
    security_code: securityCode,
    total_amount: totalAmount,
    priority: signerKnown ? PRIORITY.known : PRIORITY.stranger,
    due_at: new Date(acknowledgedAt.getTime() + FIRST_QUERY_MS),
  };
}

const ADD = {
  name: 'confirmations_add',
  text: `INSERT INTO confirmations (${NEW_CONFIRMATION_COLUMNS.join(', ')})
         VALUES (${NEW_CONFIRMATION_COLUMNS.map((_, index) => `$${index + 1}`).join(', ')})`,
};

/** Adds the queries to the authority about a document. */
export async function addConfirmation(queries: Queries, row: NewConfirmationRow | null): Promise<void> {
  if (row === null) return;
  await queries.query(
    ADD,
    NEW_CONFIRMATION_COLUMNS.map((column) => row[column]),
  );
}

export function fromConfirmationRow(row: ConfirmationRow): Confirmation {
  return {
    documentId: row.document_id,
    env: row.env,
    issuerRnc: row.issuer_rnc,
    encf: row.encf,
    buyerRnc: row.buyer_rnc,
    securityCode: row.security_code,
    totalAmount: row.total_amount,
    status: row.status,
    answers: row.answers,
    failures: row.failures,
  };
}
