import { toCalendarDate } from '@ecf/domain';
import { type QuotaClaim, type QuotaStore, quotaPeriod } from './quota-store.js';

const DAY_MS = 86_400_000;

/** Why the bytes of a refused document are not kept: its size, or the quota of its sender or of all senders. */
export type Unkept = 'size' | 'sender' | 'total';

/** A document whose bytes would be kept. */
export interface SentBytes {
  readonly bytes: number;
  readonly receivedAt: Date;
  /** Network of the sender, by which limits count. */
  readonly network: string;
}

export interface RefusedBytesLimits {
  /** Longest refused document that is kept. */
  readonly maxRefusedBytes: number;
  /** Bytes of refused documents of one sender that are kept in a day. */
  readonly maxRefusedBytesPerSender: number;
  /** Bytes of refused documents of all senders that are kept in a day. */
  readonly maxRefusedBytesPerDay: number;
}

/** A claim, and the name of the limit that it may exceed. */
export interface NamedClaim<Of extends string> {
  readonly of: Of;
  readonly claim: QuotaClaim;
}

/** Counts the bytes of refused documents, which anybody can send. */
export interface RefusedBytesQuota {
  /**
   * Returns null where the bytes may be kept; they count from then on.
   * @param narrower claims that count before those of the day; they replace the limit on the size of one document
   */
  take<Of extends string = never>(
    refused: SentBytes,
    narrower?: readonly NamedClaim<Of>[],
  ): Promise<Unkept | Of | null>;
}

export function createRefusedBytesQuota(
  quotas: Pick<QuotaStore, 'take'>,
  limits: RefusedBytesLimits,
): RefusedBytesQuota {
  return {
    async take<Of extends string>(refused: SentBytes, narrower: readonly NamedClaim<Of>[] = []) {
      if (narrower.length === 0 && refused.bytes > limits.maxRefusedBytes) return 'size';
      // The narrowest claim comes first: a sender over its own quota takes nothing from the quota of all.
      const claims: readonly NamedClaim<Unkept | Of>[] = [...narrower, ...claimsOfTheDay(refused, limits)];
      const over = await quotas.take(claims.map(({ claim }) => claim));
      if (over === null) return null;
      return claims.find(({ claim }) => claim === over)?.of ?? 'total';
    },
  };
}

function claimsOfTheDay(
  { bytes: amount, receivedAt, network }: SentBytes,
  limits: RefusedBytesLimits,
): NamedClaim<Unkept>[] {
  const period = quotaPeriod(receivedAt);
  const { maxRefusedBytesPerSender, maxRefusedBytesPerDay } = limits;
  return [
    { of: 'sender', claim: { scope: `sender:${network}`, period, amount, limit: maxRefusedBytesPerSender } },
    { of: 'total', claim: { scope: 'total', period, amount, limit: maxRefusedBytesPerDay } },
  ];
}

/** A sender has used its bytes of the UTC day. */
export class DailyBytesUsed extends Error {
  override readonly name = 'DailyBytesUsed';
  readonly retryAfterSeconds: number;
  constructor(at: Date) {
    super(
      'This sender has used its bytes of this UTC day (MAX_RECEIVED_BYTES_PER_SENDER); send the document again tomorrow.',
    );
    this.retryAfterSeconds = Math.ceil((DAY_MS - (at.getTime() % DAY_MS)) / 1_000);
  }
}

/** Counts the bytes of received documents, which are kept for good. */
export interface ReceivedBytesQuota {
  /** Counts a document that is about to be kept. Rejects with DailyBytesUsed where it does not fit. */
  take(received: SentBytes): Promise<void>;
}

export function createReceivedBytesQuota(quotas: Pick<QuotaStore, 'take'>, limit: number): ReceivedBytesQuota {
  return {
    async take({ bytes: amount, network, receivedAt }) {
      const claim = { scope: `received:${network}`, period: quotaPeriod(receivedAt), amount, limit };
      if ((await quotas.take([claim])) !== null) throw new DailyBytesUsed(receivedAt);
    },
  };
}

/**
 * Folder of a refused document, `YYYY/MM/DD/<two digits of the checksum>`: a flood of refusals fills no folder that received
 * documents use.
 * @param sha256 SHA-256 of the bytes in lower-case hex
 */
export function refusalFolder(at: Date, sha256: string): string {
  return `${toCalendarDate(at).replaceAll('-', '/')}/${sha256.slice(0, 2)}`;
}
