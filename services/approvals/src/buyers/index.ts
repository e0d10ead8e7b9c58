import type { DocumentReader } from '@ecf/archive';
import type { EmissionOperations } from '@ecf/contracts';
import type { TaxpayerSource } from '@ecf/http';
import { requestCertificate, type SealingKeys } from '@ecf/kit';
import type { Database } from '@ecf/postgres';
import { trustCheck } from '@ecf/public-ingress';
import type { AccountPorts, Certificates, TaxpayerReplica } from '@ecf/taxpayer-replica';
import { deserialiseCertificate } from '@ecf/xml-signing';
import type { ApprovalsConfig } from '../config.js';
import { APPROVALS_GROUP } from '../events.kafka.js';
import type { KnownSigners } from '../received/ports.js';
import type { Recipients } from '../sending/index.js';
import type { OutgoingStore } from '../sending/ports.js';
import { createAcknowledgementStore } from './acknowledgements.postgres.js';
import { createDeliver, type DeliverParts } from './deliver.js';
import { createDeliveryStore } from './deliveries.postgres.js';
import { createDeliveryCaller } from './delivery-caller.js';
import { deliveryOperations } from './delivery-operations.js';
import { createQueryAcknowledgements } from './query-acknowledgements.js';

const HOUR = 3_600_000;

export interface BuyersParts extends Pick<DeliverParts, 'presentRun' | 'report' | 'stopping' | 'checkpoint'> {
  readonly config: ApprovalsConfig;
  readonly database: Database;
  readonly account: AccountPorts & { readonly taxpayers: TaxpayerReplica; readonly source: TaxpayerSource | null };
  readonly certificates: Certificates;
  readonly sealingKeys: SealingKeys;
  readonly emission: Pick<EmissionOperations, 'sealedCertificate'>;
  readonly recipients: Recipients;
  readonly outgoing: Pick<OutgoingStore, 'defer'>;
  readonly signers: Pick<KnownSigners, 'areKnown'>;
  /** Reads documents that emission issued. */
  readonly issuedXml: DocumentReader;
  /** Reads documents of this service. */
  readonly ownXml: DocumentReader;
  readonly wake: () => void;
  readonly clock: () => Date;
  readonly random: () => number;
}

/** Delivers accepted e-CF to their buyers, and shows the acknowledgements that they return. */
export function createBuyers(parts: BuyersParts) {
  const { config, database, account, sealingKeys, recipients, clock, random } = parts;
  const settings = { deadlineMs: config.DELIVERY_HOURS * HOUR, deliver45: config.DELIVER_TYPE_45 };
  const deliveries = createDeliveryStore(database, APPROVALS_GROUP, clock);
  return {
    deliveries,
    settings,
    send: createDeliver({
      ...parts,
      store: deliveries,
      defer: parts.outgoing.defer,
      callerOf: createDeliveryCaller({
        ...account,
        certificates: parts.certificates,
        emission: parts.emission,
        openRequestCertificate: (sealed, { account: accountId, rnc }) =>
          deserialiseCertificate(sealingKeys.unseal(sealed, requestCertificate(accountId, rnc))),
        clock,
      }),
      endpoints: recipients.endpoints,
      hostCircuits: recipients.hostCircuits,
      client: recipients.receivers,
      trust: trustCheck(config.trust),
      rules: { firstRetryMs: config.DELIVERY_FIRST_RETRY_MS, clock, random },
    }),
    operations: deliveryOperations({ deliveries, settings, wake: parts.wake, clock }),
    acknowledgements: createQueryAcknowledgements({
      ...account,
      acknowledgements: createAcknowledgementStore(database),
      signers: parts.signers,
      archive: parts.ownXml,
    }),
  };
}
