import { hash } from 'node:crypto';
import type { DocumentReader } from '@ecf/archive';
import type { RecordCertificateUse } from '@ecf/taxpayer-replica';
import { signAcknowledgement } from '../receive/acknowledgement.js';
import type { Buyers } from '../receive/buyers.js';
import type { DocumentValidation } from '../receive/ports.js';
import { newReceivedDocument } from '../receive/received-document.js';
import { acknowledgementPath } from '../receive/storage-paths.js';
import type { Competitor, Confirmation } from './confirmation.js';
import type { ConfirmationStore } from './ports.js';

/** Gives a confirmed competitor the number that it competes for. False if it cannot have the number, or no longer can. */
export type PromoteDocument = (confirmed: Confirmation, competitor: Competitor) => Promise<boolean>;

export interface PromotePorts {
  readonly validation: DocumentValidation;
  readonly archive: DocumentReader;
  readonly recordUse: RecordCertificateUse;
  readonly confirmations: Pick<ConfirmationStore, 'promote'>;
  readonly buyers: Pick<Buyers, 'find'>;
  readonly clock: () => Date;
}

/**
 * A document that the authority does not have never blocks a confirmed one. The confirmed one gets a positive acknowledgement,
 * signed now, and is read again from the bytes that were kept.
 */
export function createPromoteDocument(ports: PromotePorts): PromoteDocument {
  return async function promote({ documentId, env }, { holderConfirmed, xmlPath, sha256: xmlSha256, ...competitor }) {
    if (holderConfirmed || xmlPath === null) return false;
    const xml = await ports.archive.get(xmlPath, xmlSha256);
    const validation = await ports.validation.document(xml, competitor.receivedAt);
    // Its certificate is no longer trusted.
    if (validation.motive !== null) return false;
    const { parties } = validation;
    const { signer, certificate, served } = await ports.buyers.find(parties.buyerRnc);
    if (!served) throw new Error(`${parties.buyerRnc} is not served, so there is no signer for it`);
    const at = ports.clock();
    await ports.recordUse({ account: signer.account_id, rnc: signer.rnc, use: 'arecf', certificate });
    const bytes = await signAcknowledgement({ ...parties, motive: null, at }, certificate);
    const sha256 = hash('sha256', bytes, 'hex');
    const path = acknowledgementPath({ env, ...parties, holderRnc: signer.rnc, at, sha256, refused: false });
    const acknowledgement = { arecfPath: path, arecfSha256: sha256, acknowledgedAt: at };
    const document = newReceivedDocument(validation, {
      env,
      ...competitor,
      xmlPath,
      xmlSha256,
      ...acknowledgement,
      signerKnown: true,
    });
    return ports.confirmations.promote({ documentId, document, files: [{ path, sha256, bytes }], at });
  };
}
