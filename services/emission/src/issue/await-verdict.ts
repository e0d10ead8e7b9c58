import { EMISSION_STATES } from '@ecf/domain';
import { type Attempt, isBeingSent, nameOf } from '../attempt/attempt.js';
import { afterResult } from '../attempt/authority-answers.js';
import type { EmissionStore, Observer } from '../attempt/ports.js';
import { exchange, type Recorder, reportOtherDocument } from '../attempt/recorder.js';
import { presentState } from '../attempt/submission-history.js';
import type { TokenSource } from '../credentials/token-source.js';
import { StoreUnavailable } from '../errors.js';
import type { FollowUp } from '../sending/follow-up.js';
import type { Authority } from '../sending/ports.js';

const SEND_POLL_MS = 50;
/**
 * Milliseconds before each query while a caller waits; the last one repeats. Most documents are decided after about 200 ms, so one
 * query usually finds the verdict. A slower authority gets at most five queries in the three seconds of STATUS_WAIT_MS.
 */
const PAUSES_MS = [220, 250, 500, 1_000] as const;

/** What a caller waits for. `signal` is aborted when the caller leaves, which ends the wait. */
export interface Waits {
  /**
   * The state after the verdict, or after STATUS_WAIT_MS. The background continues in any case. A repeat that arrives while the
   * first request waits ends with it; a later one has its own wait.
   *
   * @param tokens null without a certificate for the login: then only the background queries the result
   */
  verdict(attempt: Attempt, tokens: TokenSource | null, signal?: AbortSignal): Promise<Attempt>;
  /** For a repeat that arrives while another request sends: the state after that send, so that both get the same answer. */
  send(attempt: Attempt, signal?: AbortSignal): Promise<Attempt>;
  /** The state after one query for the result. Only a final verdict is stored, because the status poller records the rest. */
  queryOnce(present: Attempt, trackId: string, tokens: TokenSource): Promise<Attempt>;
}

export function createWaits({
  emissions,
  recorder,
  authority,
  followUp,
  observer,
  clock,
  sleep,
  settings,
}: {
  readonly emissions: Pick<EmissionStore, 'find'>;
  readonly recorder: Recorder;
  readonly authority: Pick<Authority, 'queryResult'>;
  readonly followUp: FollowUp;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds that a caller waits for the verdict, and the longest time of one send. */
  readonly settings: { readonly statusWaitMs: number; readonly sendTimeoutMs: number };
}): Waits {
  return {
    async verdict(attempt, tokens, signal) {
      const deadline = answerDeadline(attempt);
      let present = attempt;
      for (let queries = 0; !EMISSION_STATES[present.state].decided; queries += 1) {
        // It is sent when the authority answers again.
        if (present.queuedAt) return present;
        const pause = PAUSES_MS[Math.min(queries, PAUSES_MS.length - 1)] ?? 1_000;
        if (clock().getTime() + pause > deadline) return present;
        await sleep(pause);
        if (signal?.aborted === true) return present;
        const next = await unlessUnavailable(() => nextState(present, tokens));
        if (next === null) return present;
        present = next;
      }
      return present;
    },
    async send(attempt, signal) {
      let present = attempt;
      const deadline = sentAt(attempt) + settings.sendTimeoutMs;
      while (present.owner !== null && isBeingSent(present)) {
        if (signal?.aborted === true || clock().getTime() > deadline) break;
        await sleep(SEND_POLL_MS);
        const found = await unlessUnavailable(() => emissions.find(attempt));
        if (found === null) break;
        present = presentState(present, found);
        if (found.attempt !== attempt.attempt) break;
      }
      return present;
    },
    queryOnce,
  };

  async function nextState(present: Attempt, tokens: TokenSource | null): Promise<Attempt> {
    if (present.state === 'processing' && present.trackId !== null && tokens !== null)
      return queryOnce(present, present.trackId, tokens);
    const found = presentState(present, await emissions.find(present));
    // The authority wants the same summary again (004): it is sent now, not by the background.
    if (found.state === 'resend-due' && found.transientRefusals > 0 && found.owner === null && tokens !== null) {
      const claimed = await recorder.claim(found);
      if (claimed !== null) return followUp.advance(claimed, tokens);
    }
    return found;
  }

  async function queryOnce(present: Attempt, trackId: string, tokens: TokenSource): Promise<Attempt> {
    const token = await tokens.get().catch(() => null);
    if (token === null) return present;
    const answer = await authority.queryResult({ ...nameOf(present), token, trackId });
    reportOtherDocument(observer, answer, present);
    if (answer.outcome === 'unauthorized') await tokens.refused(token);
    if (
      answer.outcome !== 'verdict' ||
      answer.verdict.status === 'EnProceso' ||
      answer.verdict.status === 'No encontrado'
    ) {
      return present;
    }
    return recorder.recordAnswer(
      present,
      (latest) => (latest.trackId === trackId ? afterResult(latest, answer, recorder.timing()) : null),
      [exchange('queryResult', clock(), answer)],
    );
  }

  /** End of the wait for a verdict, in milliseconds since 1970. */
  function answerDeadline(attempt: Attempt): number {
    const now = clock().getTime();
    const firstDeadline = sentAt(attempt) + settings.statusWaitMs;
    return firstDeadline > now ? firstDeadline : now + settings.statusWaitMs;
  }

  /** When the attempt was sent, in milliseconds since 1970. A time in the future was noted by a wrong clock. */
  function sentAt({ submittedAt }: Attempt): number {
    return Math.min(submittedAt?.getTime() ?? 0, clock().getTime());
  }
}

/** Null if the database is unavailable: the caller then gets the last known state, and the background continues. */
async function unlessUnavailable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreUnavailable) return null;
    throw error;
  }
}
