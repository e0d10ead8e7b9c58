import { toCalendarDate } from '@ecf/domain';
import { type BudgetClaim, budgetPeriod, type RefusalBudgets } from './refusal-budgets.js';

/** Why the bytes of a refused document are not kept: its size, or what is kept of its sender or of all on a day. */
export type Unkept = 'size' | 'sender' | 'total';

/** A document of a sender, refused or taken, whose bytes would be kept. */
export interface SentBytes {
  readonly bytes: number;
  readonly receivedAt: Date;
  /** Network of the sender, what a limit counts by. */
  readonly network: string;
}

export interface RefusedBytesSettings {
  /** Longest document that is kept when it is refused. */
  readonly maxRefusedBytes: number;
  /** Bytes of refused documents of one sender that are kept in a day. */
  readonly maxRefusedBytesPerSender: number;
  /** Bytes of refused documents of all senders that are kept in a day. */
  readonly maxRefusedBytesPerDay: number;
}

/** A claim, and what is said to be without room where it does not fit. */
export interface NamedClaim<Of extends string> {
  readonly of: Of;
  readonly claim: BudgetClaim;
}

/** Decides what is kept of refused documents, since anybody can send them: so much of one sender and of all on a day. */
export class DailyRefusedBytes {
  constructor(
    private readonly budgets: Pick<RefusalBudgets, 'take'>,
    private readonly settings: RefusedBytesSettings,
  ) {}

  /**
   * Null where the bytes may be kept; they count from then on.
   * @param narrower claims of whoever is bounded by more than the day; they take the place of the bound on one document's size
   */
  async take<Of extends string = never>(
    refused: SentBytes,
    narrower: readonly NamedClaim<Of>[] = [],
  ): Promise<Unkept | Of | null> {
    if (narrower.length === 0 && refused.bytes > this.settings.maxRefusedBytes) return 'size';
    // The narrowest first: what one sender is refused it cannot take from others.
    const claims: readonly NamedClaim<Unkept | Of>[] = [...narrower, ...this.#today(refused)];
    const over = await this.budgets.take(claims.map(({ claim }) => claim));
    if (over === null) return null;
    return claims.find(({ claim }) => claim === over)?.of ?? 'total';
  }

  #today({ bytes: amount, receivedAt, network }: SentBytes): NamedClaim<Unkept>[] {
    const period = budgetPeriod(receivedAt);
    const { maxRefusedBytesPerSender, maxRefusedBytesPerDay } = this.settings;
    return [
      { of: 'sender', claim: { scope: `sender:${network}`, period, amount, limit: maxRefusedBytesPerSender } },
      { of: 'total', claim: { scope: 'total', period, amount, limit: maxRefusedBytesPerDay } },
    ];
  }
}

/**
 * Folder of what belongs to a refusal, `YYYY/MM/DD/<two digits of the checksum>`: a flood of refusals fills no folder that
 * others use.
 * @param sha256 SHA-256 of the bytes in lower-case hex
 */
export function refusalFolder(at: Date, sha256: string): string {
  return `${toCalendarDate(at).replaceAll('-', '/')}/${sha256.slice(0, 2)}`;
}
