import { toCalendarDate } from '@ecf/domain';
import { QUOTA_HOURS, type QuotaClaim, type QuotaStore, quotaHour, type UsedInHour } from './quota-store.js';
import type { SignerUse } from './signers/known-signers.js';

export { quotaHour };

export interface StoredBytesLimits {
  /** Bytes in 24 hours that one sender can make a service keep. */
  readonly maxStoredBytesPerSender: number;
  /** The same for all senders whose signer is not known. */
  readonly maxStoredBytesFromStrangers: number;
  /** The same for one known signer. */
  readonly maxStoredBytesPerKnownSigner: number;
  /** Whether half of the strangers' share is kept for signers that lead to a trusted issuer. */
  readonly reserveForTrusted: boolean;
}

/** The sender and signer for whose documents a service stores bytes. */
export interface Storer {
  readonly at: Date;
  /** The name of `quotaSender`. */
  readonly sender: string;
  /** Null where no valid signature names one. */
  readonly signer: {
    /** The RNC and key, as `<env>:<rnc>:<key>`. */
    readonly name: string;
    readonly known: boolean;
    readonly trusted: boolean;
  } | null;
}

/** The storer of a document that this signer signed. */
export function signedStorer(sender: string, { env, rnc, signer, at }: SignerUse, known: boolean): Storer {
  return {
    at,
    sender,
    signer: { name: `${env}:${rnc}:${signer.keyFingerprint}`, known, trusted: signer.trusted === true },
  };
}

/** A claim, and the name of the limit that it may exceed. */
export interface NamedClaim<Of extends string> {
  readonly of: Of;
  readonly claim: QuotaClaim;
}

/** Counts the bytes that a service keeps of documents from outside, and of its answers to them. */
export interface StoredBytesQuota {
  /**
   * Counts bytes that are about to be kept, before compression. Rejects with StoredBytesUsed, and counts nothing, where
   * they exceed a share of the last 24 hours.
   * @param narrower claims that count first; the name of the first that does not fit is returned, and nothing counts
   */
  take<Of extends string = never>(
    storer: Storer,
    bytes: number,
    narrower?: readonly NamedClaim<Of>[],
  ): Promise<Of | null>;
}

export function createStoredBytesQuota(
  quotas: Pick<QuotaStore, 'take' | 'used'>,
  limits: StoredBytesLimits,
): StoredBytesQuota {
  /** The narrowest claim comes first: a sender over its own share takes nothing from others. */
  function sharesOf({ at, sender, signer }: Storer, amount: number): QuotaClaim[] {
    const hour = quotaHour(at);
    if (signer?.known)
      return [{ scope: `signer:${signer.name}`, hour, amount, limit: limits.maxStoredBytesPerKnownSigner }];
    const { maxStoredBytesPerSender, maxStoredBytesFromStrangers: all, reserveForTrusted } = limits;
    const untrusted = reserveForTrusted && !signer?.trusted;
    return [
      { scope: `sender:${sender}`, hour, amount, limit: maxStoredBytesPerSender },
      ...(untrusted ? [{ scope: 'strangers:untrusted', hour, amount, limit: Math.floor(all / 2) }] : []),
      { scope: 'strangers', hour, amount, limit: all },
    ];
  }

  return {
    async take<Of extends string>(storer: Storer, bytes: number, narrower: readonly NamedClaim<Of>[] = []) {
      const over = await quotas.take([...narrower.map(({ claim }) => claim), ...sharesOf(storer, bytes)]);
      if (over === null) return null;
      const named = narrower.find(({ claim }) => claim === over);
      if (named !== undefined) return named.of;
      const used = await quotas.used(over.scope, quotaHour(storer.at));
      throw new StoredBytesUsed(over.scope, secondsUntilRoom(over, used, storer.at));
    },
  };
}

/**
 * Seconds until enough of the oldest hours no longer count for the claim to fit. For a claim over the whole limit, until no
 * hour counts.
 */
function secondsUntilRoom({ amount, limit }: QuotaClaim, used: readonly UsedInHour[], at: Date): number {
  let after = used.reduce((sum, one) => sum + one.used, amount);
  let last = quotaHour(at);
  for (const { hour, used: bytes } of used) {
    after -= bytes;
    last = hour;
    if (after <= limit) break;
  }
  return Math.ceil((last + QUOTA_HOURS) * 3_600 - at.getTime() / 1_000);
}

/** A sender, a known signer or all strangers together used their share of the last 24 hours. */
export class StoredBytesUsed extends Error {
  override readonly name = 'StoredBytesUsed';
  constructor(
    scope: string,
    /** Until enough of the oldest bytes no longer count. */
    readonly retryAfterSeconds: number,
  ) {
    const kind = scope.slice(0, scope.includes(':') ? scope.indexOf(':') : undefined);
    super(`${WORDS[kind] ?? WORDS.strangers}; send the document again later. It was not kept.`);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  sender: 'This sender has used its bytes of the last 24 hours (MAX_STORED_BYTES_PER_SENDER)',
  signer: 'This signer has used its bytes of the last 24 hours (MAX_STORED_BYTES_PER_KNOWN_SIGNER)',
  strangers:
    'Senders that are not known here have used their bytes of the last 24 hours (MAX_STORED_BYTES_FROM_STRANGERS)',
};

/**
 * Folder of a refused document, `YYYY/MM/DD/<two digits of the checksum>`: a flood of refusals fills no folder that received
 * documents use.
 * @param sha256 SHA-256 of the bytes in lower-case hex
 */
export function refusalFolder(at: Date, sha256: string): string {
  return `${toCalendarDate(at).replaceAll('-', '/')}/${sha256.slice(0, 2)}`;
}
