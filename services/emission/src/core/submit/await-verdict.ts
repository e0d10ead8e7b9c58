import { EMISSION_STATES } from '@ecf/domain';
import { type Attempt, nameOf } from '../attempt/attempt.js';
import { afterResult } from '../attempt/authority-answers.js';
import { claim, exchange, moment, recordAnswer, reportOtherDocument } from '../attempt/record-transition.js';
import { asFound } from '../attempt/submission-history.js';
import type { TokenSource } from '../credentials/token-source.js';
import { StoreUnavailable } from '../errors.js';
import type { FollowUp } from '../follow-up/follow-up.js';
import type { Ports } from '../ports.js';

const SEND_LOOK_MS = 50;

/**
 * Waits for the verdict on an attempt until `deadline`. What the caller sees then is what is known then; the background
 * goes on in any case.
 */
export async function awaitVerdict(
  ports: Ports,
  followUp: FollowUp,
  attempt: Attempt,
  tokens: TokenSource | null,
  deadline: number,
): Promise<Attempt> {
  let present = attempt;
  for (let asked = 0; !EMISSION_STATES[present.state].decided; asked += 1) {
    const pause = waitingDelay(asked);
    if (ports.clock().getTime() + pause > deadline) return present;
    await ports.sleep(pause);
    const next = await unlessAway(() => nextLook(ports, followUp, present, tokens));
    if (next === null) return present;
    present = next;
  }
  return present;
}

/**
 * For a repeat that came while another instance was sending: waits for the end of that send, so that both get the same
 * answer.
 */
export async function awaitSend(ports: Ports, attempt: Attempt): Promise<Attempt> {
  let present = attempt;
  const deadline = (attempt.submittedAt?.getTime() ?? 0) + ports.settings.sendTimeoutMs;
  while (present.owner !== null && (present.state === 'sending' || present.state === 'resending')) {
    if (ports.clock().getTime() > deadline) break;
    await ports.sleep(SEND_LOOK_MS);
    const found = await unlessAway(() => ports.emissions.find(attempt));
    if (found === null) break;
    present = asFound(present, found);
    if (found.attempt !== attempt.attempt) break;
  }
  return present;
}

/** Null where the database is away: a document that was committed is told as it is known, for it goes on all the same. */
async function unlessAway<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}

async function nextLook(
  ports: Ports,
  followUp: FollowUp,
  present: Attempt,
  tokens: TokenSource | null,
): Promise<Attempt> {
  if (present.state === 'processing' && present.trackId !== null && tokens !== null) {
    return askOnce(ports, present, present.trackId, tokens);
  }
  const found = asFound(present, await ports.emissions.find(present));
  // The authority asked for the same summary again (004): that is not left to the background.
  if (found.state === 'resend-due' && found.transientRefusals > 0 && found.owner === null && tokens !== null) {
    const claimed = await claim(ports, found);
    if (claimed !== null) return followUp.advance(claimed, tokens);
  }
  return found;
}

/**
 * Queries the result of a document that has a trackId, while its caller waits. Only a final verdict is stored: the status
 * poller records the rest.
 */
export async function askOnce(
  ports: Pick<Ports, 'authority' | 'emissions' | 'observer' | 'sleep' | 'clock' | 'random' | 'settings' | 'pending'>,
  present: Attempt,
  trackId: string,
  tokens: TokenSource,
): Promise<Attempt> {
  const token = await tokens.get().catch(() => null);
  if (token === null) return present;
  const answer = await ports.authority.queryResult({ ...nameOf(present), token, trackId });
  reportOtherDocument(ports, answer, present);
  if (answer.outcome === 'unauthorized') await tokens.refused(token);
  if (
    answer.outcome !== 'verdict' ||
    answer.verdict.status === 'EnProceso' ||
    answer.verdict.status === 'No encontrado'
  ) {
    return present;
  }
  return recordAnswer(
    ports,
    present,
    (latest) => (latest.trackId === trackId ? afterResult(latest, answer, moment(ports)) : null),
    [exchange('queryResult', ports.clock(), answer)],
    ports.pending,
  );
}

/**
 * Until when (milliseconds since 1970) a caller is kept waiting: a repeat that comes while the first one waits ends with
 * it, a later one has a budget of its own.
 */
export function answerDeadline({ clock, settings }: Pick<Ports, 'clock' | 'settings'>, attempt: Attempt): number {
  const now = clock().getTime();
  const ofTheFirst = (attempt.submittedAt?.getTime() ?? 0) + settings.statusWaitMs;
  return ofTheFirst > now ? ofTheFirst : now + settings.statusWaitMs;
}

/** Milliseconds between queries while a caller waits: short at first, since the authority usually needs 200 ms. */
function waitingDelay(asked: number): number {
  return Math.min(150 * 2 ** Math.min(asked, 3), 1_000);
}
