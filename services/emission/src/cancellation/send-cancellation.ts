import type { Answer, CancellationVerdict } from '@ecf/authority-client';
import { callWithToken } from '@ecf/authority-client/login';
import { retryDelay } from '@ecf/domain';
import { retry } from '@ecf/service-kit/retry';
import type { SigningCertificate } from '@ecf/xml-signing';
import { OVERDUE_MS } from '../attempt/transitions.js';
import { CommitUnconfirmed, MAX_ROUNDS } from '../errors.js';
import { type Cancellation, type CancellationProgress, type CancellationState, rangesOf } from './cancellation.js';
import type { CancellationPorts } from './ports.js';
import { leavesSomeOpen, refusedNumbers } from './refused-numbers.js';

/** Sends a leased cancellation and records the outcome. Resolves with its present state. */
export interface SendCancellation {
  /**
   * Without a certificate (null) it is sent later.
   *
   * @throws CommitUnconfirmed if the outcome cannot be recorded for some 30 seconds; the record is tried further
   */
  (cancellation: Cancellation, certificate: SigningCertificate | null, bytes?: Uint8Array): Promise<Cancellation>;
  /** Ids of the cancellations that this process is sending, until the outcome is recorded. */
  inFlight(): number[];
}

/**
 * Every send has the same stored bytes. The authority offers no query for a cancellation, so a lost answer leads to
 * another send. An accepted repeat decides. A refused repeat does not show the outcome of the first copy, which may have
 * annulled the numbers. So the cancellation stays open for a person.
 */
export function createSendCancellation(ports: CancellationPorts): SendCancellation {
  async function transmit(
    cancellation: Cancellation,
    certificate: SigningCertificate,
    xml: Uint8Array,
  ): Promise<Answer<CancellationVerdict>> {
    const { env, issuerRnc, accountId } = cancellation;
    return callWithToken(ports.tokens, { env, account: accountId, rnc: issuerRnc, certificate }, (token) =>
      ports.cancellationAuthority.submitCancellation({ env, token, issuerRnc, xml }),
    );
  }

  async function sendOnce(
    cancellation: Cancellation,
    certificate: SigningCertificate | null,
    bytes: Uint8Array | undefined,
    giveUp: (error: unknown) => void,
  ): Promise<Cancellation> {
    let progress: CancellationProgress;
    let outcome: string;
    let said: Verdict | null = null;
    try {
      if (certificate === null) throw new Error(`${cancellation.issuerRnc} has no certificate that can sign now`);
      const xml = bytes ?? (await ports.archive.get(cancellation.xml.path, cancellation.xml.sha256));
      const answer = await transmit(cancellation, certificate, xml);
      await ports.checkpoint('sent');
      if (answer.outcome === 'verdict') said = answer;
      outcome = said?.verdict.status ?? wordOf(answer);
      progress = after(cancellation, answer, ports);
    } catch (error) {
      // It was not sent: there is no token, or the stored bytes cannot be read now.
      ports.cancellationObserver.failed('sending a cancellation', error, cancellation.id);
      outcome = 'not_sent';
      progress = later(cancellation, ports, { reached: false });
    }
    const recorded = await recordAnswer(ports, cancellation, progress, said, giveUp);
    ports.cancellationObserver.sent(recorded, outcome);
    if (recorded.alarm !== null && cancellation.alarm === null) ports.cancellationObserver.alarm(recorded);
    return recorded;
  }

  const sending = new Set<number>();
  async function send(cancellation: Cancellation, certificate: SigningCertificate | null, bytes?: Uint8Array) {
    const { id } = cancellation;
    let giveUp = (_: unknown): void => undefined;
    const unrecorded = new Promise<never>((_, reject) => {
      giveUp = (cause) => reject(notRecordedYet(id, cause));
    });
    sending.add(id);
    const recorded = sendOnce(cancellation, certificate, bytes, giveUp).finally(() => sending.delete(id));
    return Promise.race([recorded, unrecorded]);
  }
  return Object.assign(send, { inFlight: () => [...sending] });
}

function notRecordedYet(id: number, cause: unknown): CommitUnconfirmed {
  return new CommitUnconfirmed(
    `The cancellation ${id} was sent, but the database cannot store the outcome yet; the gateway stores it when the database is available again. GET /anecf/${id} shows it. A repeat of the request is answered 409 encf_in_use and sends nothing.`,
    cause,
  );
}

type Verdict = Extract<Answer<CancellationVerdict>, { outcome: 'verdict' }>;
type Schedule = Pick<CancellationPorts, 'clock' | 'random' | 'settings'>;

/** The progress of a cancellation after an answer. */
export function after(
  before: Cancellation,
  answer: Answer<CancellationVerdict>,
  ports: Schedule,
): CancellationProgress {
  const response = answer.raw?.body ?? before.response;
  if (answer.outcome !== 'verdict') {
    const reached = answer.outcome === 'unknown' && answer.reachedAuthority === 'maybe';
    const waitMs = answer.outcome === 'unknown' ? (answer.retryAfterMs ?? 0) : 0;
    return { ...later(before, ports, { reached, waitMs }), response };
  }
  const { status, heading, messages } = answer.verdict;
  const settled = { ...before, sentAt: before.sentAt ?? ports.clock(), response, nextActionAt: null };
  if (status === 'Aceptado') return { ...settled, state: 'accepted', refused: [], alarm: null };
  if (before.lostSends > 0) return { ...settled, state: 'submitted', alarm: 'cancellation-open' };
  const requested = rangesOf(before.lines);
  if (status === 'Rechazado' && leavesSomeOpen(heading, messages, requested))
    return { ...settled, state: 'submitted', refused: [], alarm: 'cancellation-unreadable' };
  if (status === 'Rechazado') return { ...settled, state: 'rejected', refused: [], alarm: null };
  const refused = refusedNumbers(heading, messages, requested);
  return {
    ...settled,
    state: 'partial',
    refused: refused ?? [],
    alarm: refused === null ? 'cancellation-unreadable' : null,
  };
}

/** Due again after a pause that grows to an hour, without end. */
function later(
  before: Cancellation,
  { clock, random, settings }: Schedule,
  { reached, waitMs = 0 }: { reached: boolean; waitMs?: number },
): CancellationProgress {
  const now = clock();
  const failures = before.failures + 1;
  const pause = Math.max(retryDelay(failures, settings.firstRetryMs, random), waitMs);
  const lostSends = before.lostSends + (reached ? 1 : 0);
  const overdue = now.getTime() - (before.requestedAt ?? before.createdAt).getTime() > OVERDUE_MS;
  return {
    ...before,
    state: lostSends > 0 ? 'submitted' : 'failed',
    sentAt: before.sentAt ?? (reached ? now : null),
    lostSends,
    failures,
    nextActionAt: new Date(now.getTime() + pause),
    alarm: overdue ? 'cancellation-overdue' : before.alarm,
  };
}

/**
 * The progress after a late verdict, if another instance claimed the cancellation meanwhile; null if it stays
 * as it is. A decision of the authority or a person stays. A full acceptance counts in any case. A refusal does not show
 * the outcome of other copies: a copy in flight decides by its own answer, and a lost one stays open.
 */
function afterAnother(present: Cancellation, said: Verdict, ports: Schedule): CancellationProgress | null {
  if (!UNDECIDED.has(present.state)) return null;
  const isRefusal = said.verdict.status !== 'Aceptado';
  if (isRefusal && (present.state === 'sending' || present.nextActionAt === null)) return null;
  return after(present, said, ports);
}

const UNDECIDED: ReadonlySet<CancellationState> = new Set(['sending', 'failed', 'submitted']);

/**
 * Records an answer, with retries until it is recorded, because a lost answer means another send. `giveUp` is called once,
 * after {@link MAX_ROUNDS} tries: the caller is answered then.
 */
async function recordAnswer(
  ports: CancellationPorts,
  before: Cancellation,
  progress: CancellationProgress,
  said: Verdict | null,
  giveUp: (error: unknown) => void,
): Promise<Cancellation> {
  async function record(): Promise<Cancellation> {
    const recorded = await ports.cancellations.record(before, progress);
    if (recorded !== null) return recorded;
    const present = await ports.cancellations.find(before.id);
    if (present === null) return before;
    const known = said === null ? null : afterAnother(present, said, ports);
    if (known === null) return present;
    const late = await ports.cancellations.record(present, known);
    if (late !== null) return late;
    throw new Error(`the cancellation ${before.id} was changed by another instance at each try`);
  }
  const work = retry(record, {
    sleep: ports.sleep,
    onFailure(error, failures) {
      ports.cancellationObserver.failed('recording the answer to a cancellation', error, before.id);
      if (failures === MAX_ROUNDS) giveUp(error);
    },
  });
  ports.pending.add(work);
  return work.finally(() => ports.pending.delete(work));
}

function wordOf(answer: Answer<CancellationVerdict>): string {
  return answer.outcome === 'unknown' ? `unknown:${answer.cause}` : answer.outcome;
}
