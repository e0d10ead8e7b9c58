import { setTimeout as delay } from 'node:timers/promises';
import type { DocumentReader } from '@ecf/archive';
import type { Database } from '@ecf/postgres';
import type { Certificates, TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { ApprovalsConfig } from '../config.js';
import type { Recipients } from '../sending/index.js';
import { approvalOperations } from './approval-operations.js';
import { createApprovalStore } from './approvals.postgres.js';
import { createGiveApproval, type GiveApprovalParts } from './give-approval.js';
import { createQueryApprovals } from './query-approvals.js';
import { createSendToAuthority, createSendToIssuer, type SendParts } from './send.js';

const HOUR = 3_600_000;

export interface GivenParts
  extends Pick<GiveApprovalParts, 'reception' | 'send'>,
    Pick<SendParts, 'report' | 'stopping'> {
  readonly config: ApprovalsConfig;
  readonly database: Database;
  readonly account: Pick<GiveApprovalParts, 'source' | 'observer'> & { readonly taxpayers: TaxpayerReplica };
  readonly certificates: Certificates;
  readonly recipients: Recipients;
  /** Reads documents of this service. */
  readonly ownXml: DocumentReader;
  readonly wake: () => void;
  readonly clock: () => Date;
  readonly random: () => number;
}

/** Commercial approvals that our taxpayers give: signed, stored, sent to the authority and to the issuer, and shown. */
export function createGiven(parts: GivenParts) {
  const { config, account, certificates, recipients, ownXml, stopping, clock, random } = parts;
  const approvals = createApprovalStore(parts.database, config.APPROVAL_ISSUER_HOURS * HOUR);
  const sending = {
    store: approvals,
    taxpayers: account.taxpayers,
    certificates,
    archive: ownXml,
    rules: { firstRetryMs: config.APPROVAL_FIRST_RETRY_MS, clock, random },
    report: parts.report,
    stopping,
  };
  return {
    approvals,
    toAuthority: createSendToAuthority({ ...sending, client: recipients.authority, tokens: recipients.tokens }),
    toIssuer: createSendToIssuer({ ...sending, client: recipients.receivers, endpoints: recipients.endpoints }),
    give: createGiveApproval({
      ...account,
      approvals,
      certificates,
      tokens: recipients.tokens,
      recordUse: recipients.recordUse,
      reception: parts.reception,
      send: parts.send,
      leaseMs: config.APPROVAL_CLAIM_MS,
      issuerWaitMs: config.APPROVAL_ISSUER_WAIT_MS,
      clock,
      sleep: (ms) => delay(ms, undefined, { signal: stopping }).catch(() => undefined),
    }),
    query: createQueryApprovals(approvals, ownXml, account),
    operations: approvalOperations(approvals, { clock, wake: parts.wake }),
  };
}
