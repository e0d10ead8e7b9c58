import { EMISSION_STATES } from '@ecf/domain';
import { type Attempt, isBeingSent } from '../attempt/attempt.js';
import { accepts, afterReference, explained, sendLost, supersededUnsent, undecided } from '../attempt/transitions.js';
import type { SendingPorts } from './ports.js';

/** The step of an attempt that needs no call of the authority; null if it needs one. */
export async function stepWithoutAuthority(
  ports: SendingPorts,
  attempt: Attempt,
  postpone: (attempt: Attempt) => Promise<Attempt>,
): Promise<Attempt | null> {
  if (isBeingSent(attempt)) {
    // The sender ended without recording an answer: the authority may have the document.
    return ports.recorder.record(attempt, (present) =>
      isBeingSent(present) ? explained(sendLost(present, ports.recorder.moment()), 'no-answer') : null,
    );
  }
  const withdrawn = await withdrawSuperseded(ports, attempt);
  if (withdrawn !== null) return withdrawn;
  if (attempt.state === 'held') return release(ports, attempt, postpone);
  return attempt.state === 'processing' || attempt.state === 'not-found' ? noteOverdue(ports, attempt) : null;
}

/**
 * Withdraws a document that was not sent before a later certification run began: what is sent now would count in that run.
 * Null if it may be sent, or was sent already.
 */
async function withdrawSuperseded({ runs, recorder }: SendingPorts, attempt: Attempt): Promise<Attempt | null> {
  const { env, issuerRnc, run } = attempt;
  if (env === 'eCF' || !accepts(attempt, 'withdraw')) return null;
  if (run >= (await runs.present({ env, issuerRnc }))) return null;
  return recorder.record(attempt, (present) => (accepts(present, 'withdraw') ? supersededUnsent(present) : null));
}

/** A held document is sent when the document it refers to is accepted, and withdrawn when that one is refused. */
async function release(
  ports: SendingPorts,
  attempt: Attempt,
  postpone: (attempt: Attempt) => Promise<Attempt>,
): Promise<Attempt> {
  const [, issuerRnc, encf] = (attempt.modifies ?? '').split(':') as [string, string, string];
  const original = await ports.emissions.find({ env: attempt.env, run: attempt.run, issuerRnc, encf });
  const facts = original === null ? null : EMISSION_STATES[original.state];
  const accepted = facts === null || facts.status === 'Aceptado' || facts.status === 'AceptadoCondicional';
  const replaced = original !== null && isLaterDocument(original, attempt);
  if (facts !== null && !facts.decided && !replaced) return postpone(attempt);
  return ports.recorder.record(attempt, (present) =>
    present.state === 'held'
      ? afterReference(
          present,
          accepted && !replaced,
          ports.recorder.moment(),
          `${encf} was not accepted, so this document was not sent; its number is free`,
        )
      : null,
  );
}

function noteOverdue(ports: SendingPorts, attempt: Attempt): Promise<Attempt> {
  return ports.recorder.record(attempt, (present) =>
    present.revision === attempt.revision ? undecided(present, null, ports.recorder.moment()) : null,
  );
}

/** Another document took the number: the one that the note refers to was rejected. */
function isLaterDocument(original: Attempt, note: Attempt): boolean {
  return original.attempt > (note.modifiedAttempt ?? original.attempt);
}
