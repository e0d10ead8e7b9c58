import { EMISSION_STATES } from '@ecf/domain';
import { type Attempt, isBeingSent } from '../attempt/attempt.js';
import { moment, recordTransition, type TransitionPorts } from '../attempt/record-transition.js';
import { afterReference, explained, sendLost, undecided } from '../attempt/transitions.js';
import type { Ports } from '../ports.js';
import { withdrawSuperseded } from '../runs/superseded.js';

type StepPorts = TransitionPorts & Pick<Ports, 'runs'>;

/** The step of an attempt that needs no call of the authority; null if it needs one. */
export async function stepWithoutAuthority(
  ports: StepPorts,
  attempt: Attempt,
  postpone: (attempt: Attempt) => Promise<Attempt>,
): Promise<Attempt | null> {
  if (isBeingSent(attempt)) {
    // The sender ended without recording an answer: the authority may have the document.
    return recordTransition(ports, attempt, (present) =>
      isBeingSent(present) ? explained(sendLost(present, moment(ports)), 'no-answer') : null,
    );
  }
  const withdrawn = await withdrawSuperseded(ports, attempt);
  if (withdrawn !== null) return withdrawn;
  if (attempt.state === 'held') return release(ports, attempt, postpone);
  return attempt.state === 'processing' || attempt.state === 'not-found' ? noteOverdue(ports, attempt) : null;
}

/** A held document is sent when the document it refers to is accepted, and withdrawn when that one is refused. */
async function release(
  ports: StepPorts,
  attempt: Attempt,
  postpone: (attempt: Attempt) => Promise<Attempt>,
): Promise<Attempt> {
  const [, issuerRnc, encf] = (attempt.modifies ?? '').split(':') as [string, string, string];
  const original = await ports.emissions.find({ env: attempt.env, run: attempt.run, issuerRnc, encf });
  const facts = original === null ? null : EMISSION_STATES[original.state];
  const accepted = facts === null || facts.status === 'Aceptado' || facts.status === 'AceptadoCondicional';
  const replaced = original !== null && isLaterDocument(original, attempt);
  if (facts !== null && !facts.decided && !replaced) return postpone(attempt);
  return recordTransition(ports, attempt, (present) =>
    present.state === 'held'
      ? afterReference(
          present,
          accepted && !replaced,
          moment(ports),
          `${encf} was not accepted, so this document was not sent; its number is free`,
        )
      : null,
  );
}

function noteOverdue(ports: TransitionPorts, attempt: Attempt): Promise<Attempt> {
  return recordTransition(ports, attempt, (present) =>
    present.revision === attempt.revision ? undecided(present, null, moment(ports)) : null,
  );
}

/** Another document took the number: the one that the note refers to was rejected. */
function isLaterDocument(original: Attempt, note: Attempt): boolean {
  return original.attempt > (note.modifiedAttempt ?? original.attempt);
}
