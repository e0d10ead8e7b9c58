import type { EmissionOperations, ReceptionOperations } from '@ecf/contracts';
import {
  bodyLimits,
  createFreeSpaceGuard,
  createQuotaStore,
  freeSpaceSettings,
  storedBytesLimits,
  validationSettings,
} from '@ecf/public-ingress';
import type { ServiceDependencies } from '@ecf/service';
import type { AccountPorts } from '@ecf/taxpayer-replica';
import type { ApprovalsConfig } from '../config.js';
import { createApprovalReport } from '../metrics.js';
import { answerOperations, createQueryReceivedApprovals } from './query-received.js';
import { createReceiveApproval } from './receive-approval.js';
import { createKnownSigners, createReceivedApprovalStore } from './received-approvals.postgres.js';
import { createApprovalValidation } from './validation.worker.js';

/** Commercial approvals of buyers: received at the public ingress, and shown; an operator decides which one counts. */
export function createReceived(
  config: ApprovalsConfig,
  { database, clock, logger, metrics, watchQueue }: ServiceDependencies,
  emission: Pick<EmissionOperations, 'findInvoices'>,
  reception: Pick<ReceptionOperations, 'verifyProviderToken'>,
  account: AccountPorts,
) {
  const received = createReceivedApprovalStore(database);
  const signers = createKnownSigners(database);
  const quotas = createQuotaStore(database);
  const validation = createApprovalValidation({
    trust: config.trust,
    maxBytes: config.MAX_BODY_BYTES,
    ...validationSettings(config),
    watchQueue,
  });
  const freeSpace = createFreeSpaceGuard({
    ...freeSpaceSettings(config, database),
    service: 'approvals',
    metrics,
    logger,
  });
  return {
    signers,
    quotas,
    validation,
    freeSpace,
    ingress: {
      receive: createReceiveApproval({
        received,
        validation,
        quotas,
        signers,
        emission,
        settings: { ...storedBytesLimits(config), maxRefusedBytes: config.MAX_REFUSED_BYTES },
        clock,
      }),
      bodyLimits: bodyLimits(config),
      freeSpace,
      reception,
      requireTokens: config.PROVIDER_AUTH === 'required',
      report: createApprovalReport(metrics, logger),
      clock,
    },
    query: createQueryReceivedApprovals(received, emission, account),
    operations: answerOperations(received, clock),
  };
}
