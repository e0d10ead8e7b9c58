import type { CertificateFacts } from '@ecf/xml-signing';
import type { BudgetClaim, Ports, ReceptionSettings } from './ports.js';
import type { NumberHolder } from './received-document.js';

/** Why the bytes of a refused document are not kept: its size, or what is kept under its number, of its sender, of all. */
export type Unkept = 'size' | 'number' | 'sender' | 'total';

/** A refused document whose bytes would be kept. */
export interface RefusedBytes {
  readonly bytes: number;
  readonly receivedAt: Date;
  /** Network of the sender, what a limit counts by. */
  readonly network: string;
  /** The document that it competes with for a number; null where it does not. */
  readonly holder: NumberHolder | null;
  /** The certificate that signed it; null where it is not known. */
  readonly signer: Pick<CertificateFacts, 'fingerprint' | 'holderId'> | null;
}

export type RefusedBytesSettings = Omit<ReceptionSettings, 'signerRnc'>;

/** One sender may use this part of what is kept under one number. */
const SENDERS_PER_NUMBER = 3;

/**
 * Decides what is kept of refused documents, since anybody can send them. Those that compete for a number may be the
 * genuine ones: whoever signed for this issuer before has a part of its own, which no stranger can use up. So has every holder
 * where certificates have to lead to a trusted issuer, as none can be made up there.
 */
export class RefusedBytesRoom {
  constructor(
    private readonly ports: Pick<Ports, 'documents' | 'budgets'>,
    private readonly settings: RefusedBytesSettings,
  ) {}

  /** Null where the bytes may be kept; they count from then on. */
  async take(refused: RefusedBytes): Promise<Unkept | null> {
    const { holder } = refused;
    if (holder === null && refused.bytes > this.settings.maxRefusedBytes) return 'size';
    const claims = [...this.#underNumber(refused), ...this.#today(refused)];
    const over = await this.ports.budgets.take(claims.map(({ claim }) => claim));
    if (over === null) return null;
    const whose = await this.#partOfItsOwn(refused);
    if (holder !== null && whose !== null) {
      const own = { scope: `number:${holder.id}:${whose}`, period: '', amount: refused.bytes, limit: this.#part };
      return (await this.ports.budgets.take([own])) === null ? null : 'number';
    }
    return claims.find(({ claim }) => claim === over)?.of ?? 'total';
  }

  /** Whose part under the number a document counts towards that others left no room for; null where it has none. */
  async #partOfItsOwn({ holder, signer }: RefusedBytes): Promise<string | null> {
    if (holder === null || signer === null) return null;
    const { fingerprint, holderId } = signer;
    if (await this.ports.documents.signedEarlier(holder, fingerprint)) return `signer:${fingerprint}`;
    if (!this.settings.signersVouchedFor) return null;
    return holderId === null ? `signer:${fingerprint}` : `holder:${holderId}`;
  }

  get #part(): number {
    return Math.floor(this.settings.maxCompetingBytes / SENDERS_PER_NUMBER);
  }

  /** The narrowest first: what one sender is refused it cannot take from others. */
  #underNumber({ holder, network, bytes: amount }: RefusedBytes): { of: Unkept; claim: BudgetClaim }[] {
    if (holder === null) return [];
    const scope = `number:${holder.id}`;
    return [
      { of: 'number', claim: { scope: `${scope}:sender:${network}`, period: '', amount, limit: this.#part } },
      { of: 'number', claim: { scope, period: '', amount, limit: this.settings.maxCompetingBytes } },
    ];
  }

  #today({ bytes: amount, receivedAt, network }: RefusedBytes): { of: Unkept; claim: BudgetClaim }[] {
    const period = budgetPeriod(receivedAt);
    const { maxRefusedBytesPerSender, maxRefusedBytesPerDay } = this.settings;
    return [
      { of: 'sender', claim: { scope: `sender:${network}`, period, amount, limit: maxRefusedBytesPerSender } },
      { of: 'total', claim: { scope: 'total', period, amount, limit: maxRefusedBytesPerDay } },
    ];
  }
}

/** The UTC day that bytes count in. */
export function budgetPeriod(at: Date): string {
  return at.toISOString().slice(0, 10);
}
