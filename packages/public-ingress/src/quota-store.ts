/** Amounts that all instances of a service count together, each up to a limit. */
export interface QuotaStore {
  /** Takes all claims or none. Returns the first claim that does not fit, null where all were taken. */
  take(claims: readonly QuotaClaim[]): Promise<QuotaClaim | null>;
  /** Removes the amounts that count no more. */
  clean(now: Date): Promise<void>;
}

export interface QuotaClaim {
  readonly scope: string;
  /** The hour since 1970 in which the amount counts; it counts for 24 hours. Null for an amount that counts for good. */
  readonly hour: number | null;
  readonly amount: number;
  readonly limit: number;
}

/** The hour of an instant, as claims name it. */
export function quotaHour(at: Date): number {
  return Math.floor(at.getTime() / 3_600_000);
}

/** Hours for which an amount counts. */
export const QUOTA_HOURS = 24;
