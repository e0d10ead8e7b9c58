/** Amounts that all instances of a service count together, each up to a limit. */
export interface QuotaStore {
  /** Takes all claims or none. Returns the first claim that does not fit, null where all were taken. */
  take(claims: readonly QuotaClaim[]): Promise<QuotaClaim | null>;
  /** The amounts that count in a scope in this hour, by the hour of their claims, oldest first. */
  used(scope: string, hour: number): Promise<readonly UsedInHour[]>;
  /** Removes the amounts that no longer count. */
  clean(now: Date): Promise<void>;
}

export interface QuotaClaim {
  readonly scope: string;
  /** The hour of `quotaHour`. The amount counts in this hour and the next 23. Null for an amount that counts for good. */
  readonly hour: number | null;
  readonly amount: number;
  readonly limit: number;
}

export interface UsedInHour {
  readonly hour: number;
  readonly used: number;
}

/** Hours in which an amount counts. */
export const QUOTA_HOURS = 24;

/** The hour of an instant, as the number of hours since 1970. */
export function quotaHour(at: Date): number {
  return Math.floor(at.getTime() / 3_600_000);
}
