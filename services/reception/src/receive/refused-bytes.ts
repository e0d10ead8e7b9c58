import type { NamedClaim, StoredBytesQuota, Storer } from '@ecf/public-ingress/stored-bytes-quota';
import type { ReceptionSettings } from './ports.js';
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
  /** The holder that its certificate names; null if it names none. */
  readonly holderId: string | null;
  /** Whether the authority confirmed the document since it came first. */
  readonly confirmed: boolean;
}

/** Decides which refused documents are kept. */
export interface RefusedDocumentQuota {
  /**
   * Null where the bytes may be kept; they count from then on, as does the acknowledgement. Rejects with
   * StoredBytesUsed where the sender has used up its quota of kept bytes.
   */
  take(refused: RefusedDocumentBytes): Promise<Unkept | null>;
}

/** One sender may use a third of the bytes that are kept under one number. */
const SENDERS_PER_NUMBER = 3;

/**
 * A document that competes for a number may be the genuine one. So a known signer has its own quota, which no stranger can
 * use up. Where certificates must lead to a trusted issuer, each certificate holder has one.
 */
export function createRefusedDocumentQuota(
  stored: StoredBytesQuota,
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

  /** Names the quota that the document's signer has for itself under this number; null where it has none. */
  function ownQuota({ signer }: Storer, holderId: string | null): string | null {
    if (signer === null) return null;
    if (signer.known) return `signer:${signer.name}`;
    if (!settings.requireTrustedIssuer) return null;
    return holderId === null ? `signer:${signer.name}` : `holder:${holderId}`;
  }

  return {
    async take({ storer, documentBytes, acknowledgementBytes, holder, holderId, confirmed }) {
      const bytes = documentBytes + acknowledgementBytes;
      if (confirmed) {
        await stored.take(asKnown(storer), bytes);
        return null;
      }
      if (holder === null) {
        const tooLarge = documentBytes > settings.maxRefusedBytes;
        await stored.take(storer, tooLarge ? acknowledgementBytes : bytes);
        return tooLarge ? 'size' : null;
      }
      const unkept = await stored.take(storer, bytes, claimsOfNumber(holder, storer.sender, documentBytes));
      if (unkept === null) return null;
      const own = ownQuota(storer, holderId);
      const claims = own === null ? null : [forNumber(`${holder.id}:${own}`, documentBytes, share)];
      if (claims !== null && (await stored.take(storer, bytes, claims)) === null) return null;
      await stored.take(storer, acknowledgementBytes);
      return 'number';
    },
  };
}

function asKnown(storer: Storer): Storer {
  return storer.signer === null ? storer : { ...storer, signer: { ...storer.signer, known: true } };
}
