import type { CertificateNotice, NumberRange, RangeNotice } from '@ecf/contracts';
import { type CalendarDate, daysBetween, type EcfType, type Environment } from '@ecf/domain';
import type { DueWorkStore } from '@ecf/service-kit/due-work';

/** Notices come so many days before a range or certificate ends. */
const DAYS_BEFORE = 30;
const MOST_LEFT = 1_000;
const DAY_MS = 86_400_000;

/** A range is low when so many numbers are left: 10 % or 1,000, whichever is less. */
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

/** The published notices about a range. */
export interface NotifiedRange {
  readonly env: Environment;
  readonly ecfType: EcfType;
  readonly from: string;
  /** The end of the range at the last `range.low`; null if none was published since it had more numbers. */
  readonly lowUpTo: string | null;
  /** The day of expiry in the last `range.expiring`. */
  readonly expires: string | null;
}

export interface RangeStep {
  readonly notified: NotifiedRange;
  readonly publish: readonly ('range.low' | 'range.expiring')[];
}

/**
 * The notices to publish about a range now. Returned numbers do not end `low`, but another registration does, so a range
 * near the limit gets one notice.
 */
export function stepOfRange(before: NotifiedRange | null, { range, low, endsSoon: soon }: RangeState): RangeStep {
  const lowBefore = before?.lowUpTo ?? null;
  const extended = !low && lowBefore !== range.to;
  const publishesLow = low && lowBefore === null;
  const publishesExpiry = soon && before?.expires !== range.expires;
  return {
    notified: {
      env: range.env,
      ecfType: range.ecf_type,
      from: range.from,
      lowUpTo: low ? range.to : extended ? null : lowBefore,
      expires: soon ? range.expires : (before?.expires ?? null),
    },
    publish: [
      ...(publishesLow ? (['range.low'] as const) : []),
      ...(publishesExpiry ? (['range.expiring'] as const) : []),
    ],
  };
}

/** A taxpayer whose ranges and certificate are to be checked. */
export interface WatchedTaxpayer {
  readonly rnc: string;
  /** Fingerprint of the certificate in the last `certificate.expiring`; null if none was published. */
  readonly notifiedCertificate: string | null;
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

/** What the operator has to see to soon, of active taxpayers. */
export interface EndsBacklog {
  /** Taxpayers whose stored certificate ends within 30 days, or has ended. */
  readonly certificates: number;
  /** Types of e-CF of taxpayers, by environment, of which every registered range is low, ends within 30 days or has ended. */
  readonly ranges: readonly { readonly env: Environment; readonly count: number }[];
}

/** Taxpayers as due work, and the published notices. */
export interface NoticeStore extends DueWorkStore<WatchedTaxpayer> {
  /** Counted from the published notices. */
  backlog(today: CalendarDate): Promise<EndsBacklog>;
  /**
   * Which ranges may be low: one of their last numbers is used, cancelled or passed. It costs little, however large a
   * range is.
   */
  nearEnd(rnc: string, ranges: readonly NumberRange[]): Promise<boolean[]>;
  /** Publishes new notices. All instances together publish each once. */
  publish(notices: TaxpayerNotices, now: Date): Promise<void>;
  /** Ends a check. The taxpayer is due again at `dueAt`, or earlier if it changed meanwhile. */
  done(taxpayer: WatchedTaxpayer, dueAt: Date): Promise<void>;
}
