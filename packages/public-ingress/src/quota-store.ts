/** Amounts that all instances of a service count together, each up to a limit. */
export interface QuotaStore {
  /** Takes all claims or none. Returns the first claim that does not fit, null where all were taken. */
  take(claims: readonly QuotaClaim[]): Promise<QuotaClaim | null>;
  /** Removes the amounts of earlier periods. */
  clean(period: string): Promise<void>;
}

export interface QuotaClaim {
  readonly scope: string;
  /** The day, `YYYY-MM-DD`; empty for an amount that never starts again. */
  readonly period: string;
  readonly amount: number;
  readonly limit: number;
}

/** The UTC day in which bytes count. */
export function quotaPeriod(at: Date): string {
  return at.toISOString().slice(0, 10);
}
