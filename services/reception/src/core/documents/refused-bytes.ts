import type { SignerFacts } from '@ecf/public-ingress/signed-document';
import type { NamedClaim, StoredBytesQuota, Storer } from '@ecf/public-ingress/stored-bytes-quota';
import type { Ports, ReceptionSettings } from '../ports.js';
import type { NumberHolder } from './received-document.js';

/** Why the bytes of a refused document are not kept: its size, or the quota of its number. */
export type Unkept = 'size' | 'number';

/** A refused document whose bytes would be kept, with its acknowledgement, which is kept in any case. */
export interface RefusedDocumentBytes {
  readonly storer: Storer;
  readonly documentBytes: number;
  readonly acknowledgementBytes: number;
  /** The document that it competes with for a number; null where it does not. */
  readonly holder: NumberHolder | null;
  /** The signer; null if unknown. */
  readonly signer: Pick<SignerFacts, 'fingerprint' | 'holderId'> | null;
}

/** Decides which refused documents are kept. */
export interface RefusedDocumentQuota {
  /**
   * Null where the bytes may be kept; they count from then on, as does the acknowledgement. Rejects with StoredBytesUsed where the
   * sender may make us keep nothing more.
   */
  take(refused: RefusedDocumentBytes): Promise<Unkept | null>;
}

/** One sender may use a third of the bytes that are kept under one number. */
const SENDERS_PER_NUMBER = 3;

/**
 * A document that competes for a number may be the genuine one. So a signer that signed for this issuer before has a quota of
 * its own, which no stranger can use up. Where certificates must lead to a trusted issuer, each certificate holder has one.
 */
export function createRefusedDocumentQuota(
  { documents, stored }: Pick<Ports, 'documents'> & { stored: StoredBytesQuota },
  settings: Pick<ReceptionSettings, 'maxRefusedBytes' | 'maxCompetingBytes' | 'requireTrustedIssuer'>,
): RefusedDocumentQuota {
  const share = Math.floor(settings.maxCompetingBytes / SENDERS_PER_NUMBER);
  const forNumber = (scope: string, amount: number, limit: number): NamedClaim<'number'> => ({
    of: 'number',
    claim: { scope: `number:${scope}`, hour: null, amount, limit },
  });

  /** The sender's share comes first: a sender over its share takes nothing from others. */
  function claimsOfNumber(holder: NumberHolder, sender: string, amount: number): NamedClaim<'number'>[] {
    return [
      forNumber(`${holder.id}:sender:${sender}`, amount, share),
      forNumber(`${holder.id}`, amount, settings.maxCompetingBytes),
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
    async take({ storer, documentBytes, acknowledgementBytes, holder, signer }) {
      const bytes = documentBytes + acknowledgementBytes;
      if (holder === null) {
        const tooLarge = documentBytes > settings.maxRefusedBytes;
        await stored.take(storer, tooLarge ? acknowledgementBytes : bytes);
        return tooLarge ? 'size' : null;
      }
      const unkept = await stored.take(storer, bytes, claimsOfNumber(holder, storer.sender, documentBytes));
      if (unkept === null) return null;
      const own = await ownQuota(holder, signer);
      const claims = own === null ? null : [forNumber(`${holder.id}:${own}`, documentBytes, share)];
      if (claims !== null && (await stored.take(storer, bytes, claims)) === null) return null;
      await stored.take(storer, acknowledgementBytes);
      return 'number';
    },
  };
}
