import { hash } from 'node:crypto';
import type { DocumentReader } from '@ecf/service-kit/xml-store';
import type { RecordCertificateUse } from '@ecf/taxpayer-replica';
import { signAcknowledgement } from '../receive/acknowledgement.js';
import type { Buyers } from '../receive/buyers.js';
import type { DocumentValidation } from '../receive/ports.js';
import { acknowledgementPath } from '../receive/storage-paths.js';
import type { Competitor, Confirmation } from './confirmation.js';
import type { ConfirmationStore } from './ports.js';

/** Gives a confirmed competitor the number that it competes for. False if it cannot have the number, or no longer can. */
export type PromoteDocument = (confirmed: Confirmation, competitor: Competitor) => Promise<boolean>;

/**
 * A document that the authority does not have never blocks a confirmed one. The confirmed one gets a positive acknowledgement,
 * signed now, and is read again from the bytes that were kept.
 */
export function createPromoteDocument(ports: {
  readonly validation: DocumentValidation;
  readonly archive: DocumentReader;
  readonly recordUse: RecordCertificateUse;
  readonly confirmations: Pick<ConfirmationStore, 'promote'>;
  readonly buyers: Pick<Buyers, 'find'>;
  readonly clock: () => Date;
}): PromoteDocument {
  return async function promote({ documentId, env }, { holderConfirmed, accountId, receivedAt, bytes, xml, origin }) {
    if (holderConfirmed || xml === null) return false;
    const validation = await ports.validation.document(await ports.archive.get(xml.path, xml.sha256), receivedAt);
    // Its certificate is no longer trusted.
    if (validation.motive !== null) return false;
    const { parties, facts, signer, securityCode, contentSha256, canonical, observations } = validation;
    const buyer = await ports.buyers.find(parties.buyerRnc);
    if (!buyer.served) throw new Error(`${parties.buyerRnc} is not served, so there is no signer for it`);
    const key = { env, ...parties };
    const at = ports.clock();
    const { signer: owner, certificate } = buyer;
    await ports.recordUse({ account: owner.account_id, rnc: owner.rnc, use: 'arecf', certificate });
    const signed = await signAcknowledgement({ ...parties, motive: null, at }, certificate);
    const sha256 = hash('sha256', signed, 'hex');
    const name = { ...key, holderRnc: buyer.signer.rnc, at, sha256, refused: false };
    const acknowledgement = { path: acknowledgementPath(name), sha256 };
    const read = { facts, signer, securityCode, contentSha256, canonical, observations };
    const kept = { accountId, receivedAt, bytes, xml, acknowledgement, acknowledgedAt: at, origin, signerKnown: true };
    const files = [{ ...acknowledgement, bytes: signed }];
    return ports.confirmations.promote({ documentId, document: { key, ...read, ...kept }, files, at });
  };
}
