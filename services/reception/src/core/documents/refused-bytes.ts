import type { SignerFacts } from '@ecf/public-ingress/signed-document';
import {
  createRefusedBytesQuota,
  type NamedClaim,
  type SentBytes,
  type Unkept as UnkeptToday,
} from '@ecf/public-ingress/stored-bytes-quota';
import type { Ports, ReceptionSettings } from '../ports.js';
import type { NumberHolder } from './received-document.js';

/** Why the bytes of a refused document are not kept: its size, or the quota of its number, its sender or all senders. */
export type Unkept = UnkeptToday | 'number';

/** A refused document whose bytes would be kept. */
export interface RefusedDocumentBytes extends SentBytes {
  /** The document that it competes with for a number; null where it does not. */
  readonly holder: NumberHolder | null;
  /** The certificate that signed it; null where it is not known. */
  readonly signer: Pick<SignerFacts, 'fingerprint' | 'holderId'> | null;
}

/** Decides which refused documents are kept. */
export interface RefusedDocumentQuota {
  /** Null where the bytes may be kept; they count from then on. */
  take(refused: RefusedDocumentBytes): Promise<Unkept | null>;
}

/** One sender may use a third of the bytes that are kept under one number. */
const SENDERS_PER_NUMBER = 3;

/**
 * A document that competes for a number may be the genuine one. So a signer that signed for this issuer before has a quota of
 * its own, which no stranger can use up. Where certificates must lead to a trusted issuer, each certificate holder has one.
 */
export function createRefusedDocumentQuota(
  { documents, quotas }: Pick<Ports, 'documents' | 'quotas'>,
  settings: Omit<ReceptionSettings, 'signerRnc'>,
): RefusedDocumentQuota {
  const today = createRefusedBytesQuota(quotas, settings);
  const share = Math.floor(settings.maxCompetingBytes / SENDERS_PER_NUMBER);

  /** The sender's share comes first: a sender over its share takes nothing from others. */
  function claimsOfNumber({ holder, network, bytes: amount }: RefusedDocumentBytes): NamedClaim<'number'>[] {
    if (holder === null) return [];
    const scope = `number:${holder.id}`;
    return [
      { of: 'number', claim: { scope: `${scope}:sender:${network}`, period: '', amount, limit: share } },
      { of: 'number', claim: { scope, period: '', amount, limit: settings.maxCompetingBytes } },
    ];
  }

  /** Names the own quota of the document's signer under this number; null where it has none. */
  async function ownQuota(holder: NumberHolder, signer: RefusedDocumentBytes['signer']): Promise<string | null> {
    if (signer === null) return null;
    const { fingerprint, holderId } = signer;
    if (await documents.signedEarlier(holder, fingerprint)) return `signer:${fingerprint}`;
    if (!settings.requireTrustedIssuer) return null;
    return holderId === null ? `signer:${fingerprint}` : `holder:${holderId}`;
  }

  return {
    async take(refused) {
      const { holder, signer, bytes: amount } = refused;
      const unkept = await today.take(refused, claimsOfNumber(refused));
      if (unkept === null || holder === null) return unkept;
      const own = await ownQuota(holder, signer);
      if (own === null) return unkept;
      const claim = { scope: `number:${holder.id}:${own}`, period: '', amount, limit: share };
      return (await quotas.take([claim])) === null ? null : 'number';
    },
  };
}
