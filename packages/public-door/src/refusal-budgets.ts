/** Amounts that all instances of a service together take no more of than there is. */
export interface RefusalBudgets {
  /** Takes all or nothing; the first claim that does not fit, else null. */
  take(claims: readonly BudgetClaim[]): Promise<BudgetClaim | null>;
  /** Forgets what was taken in periods before this one. */
  clean(period: string): Promise<void>;
}

export interface BudgetClaim {
  readonly scope: string;
  /** The day, `YYYY-MM-DD`; empty for what does not begin anew. */
  readonly period: string;
  readonly amount: number;
  readonly limit: number;
}

/** The UTC day that bytes count in. */
export function budgetPeriod(at: Date): string {
  return at.toISOString().slice(0, 10);
}
