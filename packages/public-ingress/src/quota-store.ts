import type { CalendarDate } from '@ecf/domain';

/** Amounts that all instances of a service count together, each up to a limit. */
export interface QuotaStore {
  /** Takes all claims or none. Returns the first claim that does not fit, null where all were taken. */
  take(claims: readonly QuotaClaim[]): Promise<QuotaClaim | null>;
  /** Removes the amounts of past days. */
  clean(now: Date): Promise<void>;
}

export interface QuotaClaim {
  readonly scope: string;
  /** The Dominican day in which the amount counts. Null for an amount that counts for good. */
  readonly day: CalendarDate | null;
  readonly amount: number;
  readonly limit: number;
}
