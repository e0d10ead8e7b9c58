import { type ActedBy, actOf } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { Attempt, DocumentKey } from '../attempt/attempt.js';
import type { EmissionStore } from '../attempt/ports.js';
import type { Recorder } from '../attempt/recorder.js';
import { accepts, clearedToResend, inProcess } from '../attempt/transitions.js';
import { EmissionError } from '../errors.js';
import { documentAnswer } from '../issue/answers.js';
import type { ProveSubmission } from './prove-submission.js';

/** Decision of a person about a document whose outcome cannot be queried. */
export type OperatorDecision =
  /** The authority does not have it: send the very same bytes again. */
  | { readonly action: 'resend' }
  /** The authority has it under this trackId. */
  | { readonly action: 'adopt'; readonly trackId: string };

export type ResolveByOperator = (
  key: DocumentKey,
  decision: OperatorDecision,
  /** The actor, for the audit log. */
  by?: ActedBy | undefined,
) => Promise<Resolved>;

/** The document afterwards, and whether the decision took effect: false if another attempt took the number meanwhile. */
export interface Resolved {
  readonly state: string;
  readonly trackId: string | null;
  readonly status: string;
  readonly applied: boolean;
}

/**
 * `ecf resolve`: a person decides about a document with an unknown outcome, and the background continues. A trackId
 * is adopted only if the authority confirms that it belongs to the document.
 */
export function createResolveByOperator(
  emissions: EmissionStore,
  recorder: Recorder,
  prove: ProveSubmission,
): ResolveByOperator {
  return async (key, decision, by) => {
    const found = await emissions.find(key);
    if (found === null)
      throw new EmissionError(
        'not_found',
        `No document was issued under ${key.encf} of ${key.issuerRnc} in ${key.env}.`,
      );
    requireOpen(found, decision);
    if (decision.action === 'adopt') await prove(found, decision.trackId);
    let decided: Attempt | null = null;
    const act = actOf(by, actionOf(found, decision), toIsoDominican(recorder.moment().now));
    const decide = (present: Attempt) => {
      requireOpen(present, decision);
      decided =
        decision.action === 'resend'
          ? clearedToResend(present, recorder.moment())
          : inProcess(present, decision.trackId, true, recorder.moment());
      return decided;
    };
    const attempt = await recorder.record(found, decide, [], act);
    const { state, trackId } = attempt;
    return { state, trackId, status: documentAnswer(attempt).status, applied: attempt === decided };
  };
}

function actionOf({ env, issuerRnc, encf, run }: Attempt, decision: OperatorDecision) {
  const { action } = decision;
  const ofRun = run > 1 ? { run } : {};
  const details = action === 'adopt' ? { action, track_id: decision.trackId, ...ofRun } : { action, ...ofRun };
  return { action: 'document.resolve', target: `/documents/${env}/${issuerRnc}/${encf}`, details };
}

/** @throws EmissionError `conflict` if the document does not wait for a decision, or is leased */
function requireOpen(present: Attempt, { action }: OperatorDecision): void {
  if (accepts(present, action === 'resend' ? 'cleared-to-resend' : 'in-process') && present.owner === null) return;
  throw new EmissionError(
    'conflict',
    `${present.encf} is ${present.state} and does not need a decision by a person now.`,
  );
}
