import { documentAnswer } from './answers.js';
import type { DocumentKey } from './attempt.js';
import { EmissionError } from './errors.js';
import type { Ports } from './ports.js';
import { accepts, clearedToResend, inProcess } from './progress.js';
import { moment, record } from './record.js';

/** What a person decided about a document whose outcome nobody can ask for. */
export type OperatorDecision =
  /** The authority does not have it: send the very same bytes again. */
  | { readonly action: 'resend' }
  /** The authority has it under this trackId. */
  | { readonly action: 'adopt'; readonly trackId: string };

export type ResolveByOperator = (
  key: DocumentKey,
  decision: OperatorDecision,
) => Promise<{ state: string; trackId: string | null; status: string }>;

/** `ecf resolve`: ends the uncertainty of a document by hand; what follows is done by the background. */
export function createResolveByOperator(ports: Ports): ResolveByOperator {
  return (key, decision) =>
    ports.lock.run(`${key.env}:${key.issuerRnc}:${key.encf}`, async () => {
      const found = await ports.emissions.find(key);
      if (found === null)
        throw new EmissionError('not_found', `Nothing was issued under ${key.encf} of ${key.issuerRnc} in ${key.env}.`);
      const event = decision.action === 'resend' ? 'cleared-to-resend' : 'in-process';
      const attempt = await record(ports, found, (present) => {
        if (!accepts(present, event) || present.owner !== null) {
          throw new EmissionError(
            'conflict',
            `${key.encf} is ${present.state}; there is nothing to resolve by hand now.`,
          );
        }
        if (decision.action === 'resend') return clearedToResend(present, moment(ports));
        return inProcess(present, decision.trackId, true, moment(ports));
      });
      return { state: attempt.state, trackId: attempt.trackId, status: documentAnswer(attempt).status };
    });
}
