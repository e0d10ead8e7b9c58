import type { Metrics } from './metrics.js';

/** The report of the authority client after a call (CallReport of authority-client). */
export interface AuthorityCall {
  readonly operation: string;
  readonly env: string | null;
  readonly outcome: string;
  readonly cause: string | null;
  readonly durationMs: number;
}

/** Counts and times every call to the authority that it is given, alike in all services that call it. */
export function measureAuthorityCalls(metrics: Metrics): (call: AuthorityCall) => void {
  const calls = metrics.histogram({
    name: 'ecf_authority_call_seconds',
    help: 'Calls to the authority',
    labels: ['operation', 'env', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  const begun = new Set<string>();
  return ({ operation, env: named, outcome, cause, durationMs }) => {
    const env = named ?? '';
    // A series that begins with its first call would hide that one from `increase`, and so from the alarm.
    if (!begun.has(`${operation} ${env}`)) calls.zero({ operation, env, outcome: 'unknown:another_document' });
    begun.add(`${operation} ${env}`);
    calls.observe({ operation, env, outcome: cause === null ? outcome : `${outcome}:${cause}` }, durationMs / 1_000);
  };
}
