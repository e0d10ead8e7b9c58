import type { ReportClockSkew } from './clock-skew.js';
import type { Metrics } from './metrics.js';

/** The report of the authority client after a call (CallReport of authority-client). */
export interface AuthorityCall {
  readonly operation: string;
  readonly env: string | null;
  readonly outcome: string;
  readonly cause: string | null;
  readonly durationMs: number;
  /** The `Date` header of the answer. */
  readonly date: Date | null;
}

export interface AuthorityCallsOptions {
  /** Receives the clock skew between this process and the authority. */
  readonly skew?: ReportClockSkew;
  /** Milliseconds since 1970 by the process. */
  readonly processTime?: () => number;
}

/** Counts and times every call to the authority that it is given, alike in all services that call it. */
export function measureAuthorityCalls(
  metrics: Metrics,
  { skew, processTime = () => Date.now() }: AuthorityCallsOptions = {},
): (call: AuthorityCall) => void {
  const calls = metrics.histogram({
    name: 'ecf_authority_call_seconds',
    help: 'Calls to the authority',
    labels: ['operation', 'env', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  const begun = new Set<string>();
  return ({ operation, env: named, outcome, cause, durationMs, date }) => {
    // A call without an environment went to a receiver.
    if (named !== null && date !== null) skew?.('authority', (processTime() - date.getTime()) / 1_000);
    const env = named ?? '';
    // A series that begins with its first call would hide that one from `increase`, and so from the alarm.
    if (!begun.has(`${operation} ${env}`)) calls.zero({ operation, env, outcome: 'unknown:another_document' });
    begun.add(`${operation} ${env}`);
    calls.observe({ operation, env, outcome: cause === null ? outcome : `${outcome}:${cause}` }, durationMs / 1_000);
  };
}
