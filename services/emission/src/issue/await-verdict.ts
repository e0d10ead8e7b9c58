import { EMISSION_STATES } from '@ecf/domain';
import { type Attempt, isBeingSent, nameOf } from '../attempt/attempt.js';
import { afterResult } from '../attempt/authority-answers.js';
import {
  type AnswerPorts,
  claim,
  exchange,
  moment,
  recordAnswer,
  reportOtherDocument,
} from '../attempt/record-transition.js';
import { asFound } from '../attempt/submission-history.js';
import type { TokenSource } from '../credentials/token-source.js';
import { StoreUnavailable } from '../errors.js';
import type { Ports } from '../ports.js';
import type { FollowUp } from '../sending/follow-up.js';

const SEND_LOOK_MS = 50;

type QueryPorts = AnswerPorts & Pick<Ports, 'authority'>;
/** The ports of a caller's wait for the verdict. */
export type AwaitPorts = QueryPorts & Pick<Ports, 'owner'>;

/**
 * Waits for the verdict on an attempt until `deadline` and returns the state at that time. The background continues
 * in any case.
 *
 * @param signal aborted when the caller leaves, which ends the wait
 */
export async function awaitVerdict(
  ports: AwaitPorts,
  followUp: FollowUp,
  attempt: Attempt,
  tokens: TokenSource | null,
  deadline: number,
  signal?: AbortSignal,
): Promise<Attempt> {
  let present = attempt;
  for (let queries = 0; !EMISSION_STATES[present.state].decided; queries += 1) {
    // It is sent when the authority answers again.
    if (present.queuedAt) return present;
    const pause = PAUSES_MS[Math.min(queries, PAUSES_MS.length - 1)] ?? 1_000;
    if (ports.clock().getTime() + pause > deadline) return present;
    await ports.sleep(pause);
    if (signal?.aborted === true) return present;
    const next = await unlessAway(() => nextLook(ports, followUp, present, tokens));
    if (next === null) return present;
    present = next;
  }
  return present;
}

/**
 * For a repeat that arrives while another request sends: waits for the end of that send, so that both get the same
 * answer.
 *
 * @param signal aborted when the caller leaves, which ends the wait
 */
export async function awaitSend(
  ports: Pick<Ports, 'emissions' | 'sleep' | 'clock' | 'settings'>,
  attempt: Attempt,
  signal?: AbortSignal,
): Promise<Attempt> {
  let present = attempt;
  const deadline = sentAt(attempt, ports.clock()) + ports.settings.sendTimeoutMs;
  while (present.owner !== null && isBeingSent(present)) {
    if (signal?.aborted === true || ports.clock().getTime() > deadline) break;
    await ports.sleep(SEND_LOOK_MS);
    const found = await unlessAway(() => ports.emissions.find(attempt));
    if (found === null) break;
    present = asFound(present, found);
    if (found.attempt !== attempt.attempt) break;
  }
  return present;
}

/** Null if the database is unavailable: the caller then gets the last known state, and the background continues. */
async function unlessAway<T>(look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}

async function nextLook(
  ports: AwaitPorts,
  followUp: FollowUp,
  present: Attempt,
  tokens: TokenSource | null,
): Promise<Attempt> {
  if (present.state === 'processing' && present.trackId !== null && tokens !== null) {
    return queryResultOnce(ports, present, present.trackId, tokens);
  }
  const found = asFound(present, await ports.emissions.find(present));
  // The authority wants the same summary again (004): it is sent now, not by the background.
  if (found.state === 'resend-due' && found.transientRefusals > 0 && found.owner === null && tokens !== null) {
    const claimed = await claim(ports, found);
    if (claimed !== null) return followUp.advance(claimed, tokens);
  }
  return found;
}

/**
 * Queries the result of a document with a trackId while its caller waits. Only a final verdict is stored, because the
 * status poller records the rest.
 */
export async function queryResultOnce(
  ports: QueryPorts,
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
  );
}

/**
 * End of the wait for a caller, in milliseconds since 1970. A repeat that arrives while the first request waits ends
 * with it. A later one has a wait of its own.
 */
export function answerDeadline({ clock, settings }: Pick<Ports, 'clock' | 'settings'>, attempt: Attempt): number {
  const now = clock().getTime();
  const firstDeadline = sentAt(attempt, clock()) + settings.statusWaitMs;
  return firstDeadline > now ? firstDeadline : now + settings.statusWaitMs;
}

/** When the attempt was sent, in milliseconds since 1970. A time in the future was noted by a wrong clock. */
function sentAt({ submittedAt }: Attempt, now: Date): number {
  return Math.min(submittedAt?.getTime() ?? 0, now.getTime());
}

/**
 * Milliseconds before each query while a caller waits; the last one repeats. Most documents are decided after about 200 ms, so one
 * query usually finds the verdict. A slower authority gets at most five queries in the three seconds of STATUS_WAIT_MS.
 */
const PAUSES_MS = [220, 250, 500, 1_000] as const;
