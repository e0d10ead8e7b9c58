import type { Attempt } from '../attempt/attempt.js';
import { recordTransition, type TransitionPorts } from '../attempt/record-transition.js';
import { accepts, supersededUnsent } from '../attempt/transitions.js';
import type { Ports } from '../ports.js';

/**
 * Withdraws a document that was not sent before a later certification run began: what is sent now would count in that run.
 * Null if it may be sent, or was sent already.
 */
export async function withdrawSuperseded(
  ports: TransitionPorts & Pick<Ports, 'runs'>,
  attempt: Attempt,
): Promise<Attempt | null> {
  const { env, issuerRnc, run } = attempt;
  if (env === 'eCF' || !accepts(attempt, 'withdraw')) return null;
  if (run >= (await ports.runs.present({ env, issuerRnc }))) return null;
  return recordTransition(ports, attempt, (present) =>
    accepts(present, 'withdraw') ? supersededUnsent(present) : null,
  );
}
