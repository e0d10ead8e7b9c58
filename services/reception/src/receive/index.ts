import type { DocumentReader } from '@ecf/archive';
import {
  createQuotaStore,
  createSignerLookUp,
  createStoredBytesQuota,
  storedBytesLimits,
  validationSettings,
} from '@ecf/public-ingress';
import type { ServiceDependencies } from '@ecf/service';
import type { RecordCertificateUse } from '@ecf/taxpayer-replica';
import type { ReceptionConfig } from '../config.js';
import { createAnsweredDocuments } from './answered-documents.js';
import { createArrivals } from './arrivals.postgres.js';
import { type BuyersPorts, createBuyers, MAX_QUERIES } from './buyers.js';
import { createReceiveDocument } from './receive-document.js';
import { createRecordDocument } from './record-document.js';
import { createRefusals } from './refusals.postgres.js';
import { createRefusedDocumentQuota } from './refused-bytes.js';
import { createValidation } from './validation.worker.js';

/** Receives documents from senders. */
export function createReceiving(
  config: ReceptionConfig,
  { clock, database, watchQueue }: ServiceDependencies,
  parts: BuyersPorts & { readonly archive: DocumentReader; readonly recordUse: RecordCertificateUse },
) {
  const documents = { ...createArrivals(database), ...createRefusals(database) };
  const quotas = createQuotaStore(database);
  const validation = createValidation({
    trust: config.trust,
    maxBytes: config.MAX_BODY_BYTES,
    ...validationSettings(config),
    watchQueue,
  });
  const buyers = createBuyers(parts, config.RECEPTION_SIGNER_RNC ?? null);
  watchQueue({ queue: 'buyers', limit: MAX_QUERIES, depth: buyers.queries });
  const stored = createStoredBytesQuota(quotas, storedBytesLimits(config));
  const record = createRecordDocument({
    documents,
    archive: parts.archive,
    isKnown: createSignerLookUp(database),
    recordUse: parts.recordUse,
    quotas,
    stored,
    refusedQuota: createRefusedDocumentQuota(stored, {
      maxRefusedBytes: config.MAX_REFUSED_BYTES,
      maxCompetingBytes: config.MAX_COMPETING_BYTES,
      requireTrustedIssuer: config.trust.issuers !== null,
    }),
    clock,
  });
  const answered = createAnsweredDocuments({ documents, observer: parts.observer });
  const receive = createReceiveDocument({ documents, validation, buyers, answered, record, clock });
  return {
    receive,
    answered,
    buyers,
    validation,
    quotas,
    async close() {
      await answered.settled();
      await validation.close();
    },
  };
}
