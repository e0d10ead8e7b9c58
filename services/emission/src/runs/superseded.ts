import type { Attempt } from '../attempt/attempt.js';
import type { Recorder } from '../attempt/recorder.js';
import { accepts, supersededUnsent } from '../attempt/transitions.js';
import type { RunStore } from './start-run.js';

/**
 * Withdraws a document that was not sent before a later certification run began: what is sent now would count in that run.
 * Null if it may be sent, or was sent already.
 */
export async function withdrawSuperseded(
  runs: RunStore,
  recorder: Recorder,
  attempt: Attempt,
): Promise<Attempt | null> {
  const { env, issuerRnc, run } = attempt;
  if (env === 'eCF' || !accepts(attempt, 'withdraw')) return null;
  if (run >= (await runs.present({ env, issuerRnc }))) return null;
  return recorder.record(attempt, (present) => (accepts(present, 'withdraw') ? supersededUnsent(present) : null));
}
