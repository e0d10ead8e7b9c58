import { DailyRefusedBytes, type NamedClaim, type SentBytes, type Unkept as UnkeptToday } from '@ecf/public-door';
import type { CertificateFacts } from '@ecf/xml-signing';
import type { Ports, ReceptionSettings } from '../ports.js';
import type { NumberHolder } from './received-document.js';

/** Why the bytes of a refused document are not kept: its size, or what is kept under its number, of its sender, of all. */
export type Unkept = UnkeptToday | 'number';

/** A refused document whose bytes would be kept. */
export interface RefusedDocumentBytes extends SentBytes {
  /** The document that it competes with for a number; null where it does not. */
  readonly holder: NumberHolder | null;
  /** The certificate that signed it; null where it is not known. */
  readonly signer: Pick<CertificateFacts, 'fingerprint' | 'holderId'> | null;
}

/** One sender may use this part of what is kept under one number. */
const SENDERS_PER_NUMBER = 3;

/**
 * Decides what is kept of refused documents. Those that compete for a number may be the
 * genuine ones: whoever signed for this issuer before has a part of its own, which no stranger can use up. So has every holder
 * where certificates have to lead to a trusted issuer, as none can be made up there.
 */
export class RefusedBytesRoom {
  readonly #day: DailyRefusedBytes;

  constructor(
    private readonly ports: Pick<Ports, 'documents' | 'budgets'>,
    private readonly settings: Omit<ReceptionSettings, 'signerRnc'>,
  ) {
    this.#day = new DailyRefusedBytes(ports.budgets, settings);
  }

  /** Null where the bytes may be kept; they count from then on. */
  async take(refused: RefusedDocumentBytes): Promise<Unkept | null> {
    const { holder } = refused;
    const unkept = await this.#day.take(refused, this.#underNumber(refused));
    if (unkept === null || holder === null) return unkept;
    const whose = await this.#partOfItsOwn(refused);
    if (whose === null) return unkept;
    const own = { scope: `number:${holder.id}:${whose}`, period: '', amount: refused.bytes, limit: this.#part };
    return (await this.ports.budgets.take([own])) === null ? null : 'number';
  }

  /** Whose part under the number a document counts towards that others left no room for; null where it has none. */
  async #partOfItsOwn({ holder, signer }: RefusedDocumentBytes): Promise<string | null> {
    if (holder === null || signer === null) return null;
    const { fingerprint, holderId } = signer;
    if (await this.ports.documents.signedEarlier(holder, fingerprint)) return `signer:${fingerprint}`;
    if (!this.settings.signersVouchedFor) return null;
    return holderId === null ? `signer:${fingerprint}` : `holder:${holderId}`;
  }

  get #part(): number {
    return Math.floor(this.settings.maxCompetingBytes / SENDERS_PER_NUMBER);
  }

  /** One sender's part first: what it is refused it cannot take from others. */
  #underNumber({ holder, network, bytes: amount }: RefusedDocumentBytes): NamedClaim<'number'>[] {
    if (holder === null) return [];
    const scope = `number:${holder.id}`;
    return [
      { of: 'number', claim: { scope: `${scope}:sender:${network}`, period: '', amount, limit: this.#part } },
      { of: 'number', claim: { scope, period: '', amount, limit: this.settings.maxCompetingBytes } },
    ];
  }
}
