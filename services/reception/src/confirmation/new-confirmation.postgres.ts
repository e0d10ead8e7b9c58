import { serviceExists } from '@ecf/authority-client';
import type { Environment } from '@ecf/domain';
import type { Insertable } from 'kysely';
import type { Confirmation as ConfirmationTable } from '../generated/tables.js';
import type { ConfirmableFacts, DocumentKey } from '../receive/received-document.js';
import { FIRST_QUERY_MS } from './confirmation.js';

/** Whether the authority answers queries about received documents there. */
export function isConfirmable(env: Environment): boolean {
  return serviceExists('consultaestado', env);
}

/** First queries come before repeated ones, and those about documents of known signers before strangers'. */
export const PRIORITY = { known: 0, stranger: 1, repeat: 2 } as const;

export type NewConfirmation = Insertable<ConfirmationTable>;

/** The row of a new document; null if the authority cannot be queried. */
export function newConfirmation(
  documentId: number,
  { env, issuerRnc, encf, buyerRnc }: DocumentKey,
  { securityCode, totalAmount, signerKnown }: ConfirmableFacts,
  acknowledgedAt: Date,
): NewConfirmation | null {
  if (!isConfirmable(env)) return null;
  const priority = signerKnown ? PRIORITY.known : PRIORITY.stranger;
  const dueAt = new Date(acknowledgedAt.getTime() + FIRST_QUERY_MS);
  return { documentId, env, issuerRnc, encf, buyerRnc, securityCode, totalAmount, priority, dueAt };
}
