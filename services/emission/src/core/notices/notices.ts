import type { CertificateNotice, NumberRange, RangeNotice } from '@ecf/contracts';
import { type CalendarDate, daysBetween, type EcfType, type Environment } from '@ecf/domain';
import type { DueWorkStore } from '@ecf/service-kit/due-work';

/** What comes to its end is told so many days before. */
const DAYS_BEFORE = 30;
const MOST_LEFT = 1_000;
const DAY_MS = 86_400_000;

/** How many numbers of a range are left when it is low: 10 % or 1,000, whichever is less. */
export function lowAt({ from, to }: Pick<NumberRange, 'from' | 'to'>): number {
  const size = Number(to.slice(3)) - Number(from.slice(3)) + 1;
  return Math.min(Math.floor(size / 10), MOST_LEFT);
}

/** Whether a range that is not expired ends soon. */
export function endsSoon({ expires }: Pick<NumberRange, 'expires'>, today: CalendarDate): boolean {
  return expires !== null && daysBetween(today, expires as CalendarDate) <= DAYS_BEFORE;
}

/** Whether a certificate that is still valid ends soon. */
export function certificateEndsSoon(notAfter: Date, now: Date): boolean {
  const left = notAfter.getTime() - now.getTime();
  return left > 0 && left <= DAYS_BEFORE * DAY_MS;
}

/** A range as it is now. */
export interface RangeState {
  readonly range: NumberRange;
  readonly low: boolean;
  readonly endsSoon: boolean;
  /** Only known of a range that is low or ends soon. */
  readonly left: { readonly next: string | null; readonly remaining: number } | null;
}

/** What was told about a range. */
export interface ToldOfRange {
  readonly env: Environment;
  readonly ecfType: EcfType;
  readonly from: string;
  /** The end of the range that was told to be low; null if nothing was told since it had more numbers. */
  readonly lowUpTo: string | null;
  /** The day of expiry that was told. */
  readonly expires: string | null;
}

export interface RangeStep {
  readonly told: ToldOfRange;
  readonly tell: readonly ('range.low' | 'range.expiring')[];
}

/**
 * What is told of a range now. Numbers that are returned do not end `low`, but another registration does, so that
 * a range near the limit is told once.
 */
export function stepOfRange(before: ToldOfRange | null, { range, low, endsSoon: soon }: RangeState): RangeStep {
  const lowBefore = before?.lowUpTo ?? null;
  const extended = !low && lowBefore !== range.to;
  const tellsLow = low && lowBefore === null;
  const tellsExpiry = soon && before?.expires !== range.expires;
  return {
    told: {
      env: range.env,
      ecfType: range.ecf_type,
      from: range.from,
      lowUpTo: low ? range.to : extended ? null : lowBefore,
      expires: soon ? range.expires : (before?.expires ?? null),
    },
    tell: [...(tellsLow ? (['range.low'] as const) : []), ...(tellsExpiry ? (['range.expiring'] as const) : [])],
  };
}

/** A taxpayer whose ranges and certificate are to be looked at. */
export interface WatchedTaxpayer {
  readonly rnc: string;
  /** Fingerprint of the certificate of which it was told; null if of none. */
  readonly certificateTold: string | null;
  /** The end of the lease. */
  readonly dueAt: Date;
}

export interface TaxpayerNotices {
  readonly rnc: string;
  readonly accountId: string;
  readonly ranges: readonly RangeState[];
  readonly certificate: CertificateNotice['certificate'] | null;
}

/** A notice that is published. */
export type Notice =
  | { readonly type: 'range.low' | 'range.expiring'; readonly data: RangeNotice }
  | { readonly type: 'certificate.expiring'; readonly data: CertificateNotice };

/** Taxpayers as due work, and what they were told. */
export interface NoticeStore extends DueWorkStore<WatchedTaxpayer> {
  /** Which ranges may be low: one of their last numbers is used, cancelled or passed. It costs little, however large a range is. */
  nearEnd(rnc: string, ranges: readonly NumberRange[]): Promise<boolean[]>;
  /** Publishes what was not told before. All instances together tell it once. */
  tell(notices: TaxpayerNotices, now: Date): Promise<void>;
  /** Looked at; it is due again then, or earlier if something happened meanwhile. */
  done(taxpayer: WatchedTaxpayer, dueAt: Date): Promise<void>;
}
