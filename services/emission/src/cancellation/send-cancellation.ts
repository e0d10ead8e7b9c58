import type { DocumentReader } from '@ecf/archive';
import type { Answer, AuthorityClient, CancellationVerdict, TokenProvider } from '@ecf/authority-client';
import { callWithToken } from '@ecf/authority-client/login';
import { retry } from '@ecf/kit';
import { createDueWork, type DueWork } from '@ecf/postgres/due-work';
import type { SigningCertificate } from '@ecf/xml-signing';
import type { ReachCheckpoint } from '../attempt/ports.js';
import type { Certificates } from '../credentials/certificates.js';
import type { Taxpayers } from '../credentials/taxpayers.js';
import { CommitUnconfirmed, MAX_ROUNDS } from '../errors.js';
import type { Cancellation, CancellationProgress } from './cancellation.js';
import type { CancellationObserver, CancellationStore } from './ports.js';
import { type AnsweredVerdict, afterAnswer, afterLateVerdict, sentLater } from './progress.js';

/**
 * Sends a leased cancellation and records the outcome. Resolves with its present state. Without a certificate (null) it is
 * sent later. `bytes` saves reading the stored ones.
 *
 * @throws CommitUnconfirmed if the outcome cannot be recorded for some 30 seconds; it is recorded later
 */
export type SendCancellation = (
  cancellation: Cancellation,
  certificate: SigningCertificate | null,
  bytes?: Uint8Array,
) => Promise<Cancellation>;

/**
 * Every send has the same stored bytes. The authority offers no query for a cancellation, so a lost answer leads to
 * another send. An accepted repeat decides. A refused repeat does not show the outcome of the first copy, which may have
 * annulled the numbers. So the cancellation stays open for a person.
 */
export function createSendCancellation({
  cancellations,
  authority,
  tokens,
  archive,
  observer,
  clock,
  random,
  sleep,
  firstRetryMs,
  pending,
  sending,
  checkpoint,
}: {
  readonly cancellations: Pick<CancellationStore, 'find' | 'record'>;
  readonly authority: Pick<AuthorityClient, 'submitCancellation'>;
  readonly tokens: TokenProvider;
  readonly archive: DocumentReader;
  readonly observer: CancellationObserver;
  readonly clock: () => Date;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly firstRetryMs: number;
  /** Receives the writes of answers that wait for the database. */
  readonly pending: Set<Promise<unknown>>;
  /** Receives the id of each cancellation until the outcome of its send is recorded. */
  readonly sending: Set<number>;
  readonly checkpoint: ReachCheckpoint;
}): SendCancellation {
  const times = () => ({ now: clock(), random, firstRetryMs });

  return async (cancellation, certificate, bytes) => {
    sending.add(cancellation.id);
    const answer = await transmit(cancellation, certificate, bytes);
    const progress =
      answer === null
        ? sentLater(cancellation, times(), { reached: false })
        : afterAnswer(cancellation, answer, times());
    const recorded = await recordSurely(cancellation, progress, answer?.outcome === 'verdict' ? answer : null);
    observer.sent(recorded, wordOf(answer));
    if (recorded.alarm !== null && cancellation.alarm === null) observer.alarm(recorded);
    return recorded;
  };

  /** The answer of the authority; null if it was not sent, because there is no token or the stored bytes cannot be read now. */
  async function transmit(
    { id, env, issuerRnc, accountId, xmlPath, xmlSha256 }: Cancellation,
    certificate: SigningCertificate | null,
    bytes: Uint8Array | undefined,
  ): Promise<Answer<CancellationVerdict> | null> {
    try {
      if (certificate === null) throw new Error(`${issuerRnc} has no certificate that can sign now`);
      const xml = bytes ?? (await archive.get(xmlPath, xmlSha256));
      const owner = { env, account: accountId, rnc: issuerRnc, certificate };
      const answer = await callWithToken(tokens, owner, (token) =>
        authority.submitCancellation({ env, token, issuerRnc, xml }),
      );
      await checkpoint('sent');
      return answer;
    } catch (error) {
      observer.failed('sending a cancellation', error, id);
      return null;
    }
  }

  /** Records an answer, with retries until it is recorded, because a lost answer means another send. */
  async function recordSurely(
    before: Cancellation,
    progress: CancellationProgress,
    verdict: AnsweredVerdict | null,
  ): Promise<Cancellation> {
    const work = async () => {
      const recorded = await record(before, progress, verdict);
      sending.delete(before.id);
      return recorded;
    };
    const failed = (error: unknown) => observer.failed('recording the answer to a cancellation', error, before.id);
    try {
      return await retry(work, {
        sleep,
        onFailure(error, failures) {
          failed(error);
          if (failures === MAX_ROUNDS) throw error;
        },
      });
    } catch (error) {
      const recording = retry(work, { sleep, onFailure: failed });
      pending.add(recording);
      void recording.finally(() => pending.delete(recording));
      throw notRecordedYet(before.id, error);
    }
  }

  async function record(
    before: Cancellation,
    progress: CancellationProgress,
    verdict: AnsweredVerdict | null,
  ): Promise<Cancellation> {
    const recorded = await cancellations.record(before, progress);
    if (recorded !== null) return recorded;
    // The lease ended before the answer came, so another instance or a person changed it.
    const present = await cancellations.find(before.id);
    if (present === null) return before;
    const late = verdict === null ? null : afterLateVerdict(present, verdict, times());
    if (late === null) return present;
    const recordedLate = await cancellations.record(present, late);
    if (recordedLate !== null) return recordedLate;
    throw new Error(`the cancellation ${before.id} was changed by another instance at each try`);
  }
}

function notRecordedYet(id: number, cause: unknown): CommitUnconfirmed {
  return new CommitUnconfirmed(
    `The cancellation ${id} was sent, but the database cannot store the outcome yet; the gateway stores it when the database is available again. GET /anecf/${id} shows it. A repeat of the request is answered 409 encf_in_use and sends nothing.`,
    cause,
  );
}

/** The outcome of a send as a label of a metric. */
function wordOf(answer: Answer<CancellationVerdict> | null): string {
  if (answer === null) return 'not_sent';
  if (answer.outcome === 'verdict') return answer.verdict.status;
  return answer.outcome === 'unknown' ? `unknown:${answer.cause}` : answer.outcome;
}

/**
 * Sends due cancellations: after a lost answer, an outage of the authority, or a crash of the sending instance. One at a
 * time, because they are few and one may have twelve megabytes.
 */
export function createCancellationBackground({
  cancellations,
  taxpayers,
  certificates,
  send,
  sending,
  observer,
  checkpoint,
  ...options
}: {
  readonly cancellations: Pick<CancellationStore, 'claimDue'>;
  readonly taxpayers: Pick<Taxpayers, 'lastKnown'>;
  readonly certificates: Pick<Certificates, 'stored'>;
  readonly send: SendCancellation;
  /**
   * Ids of the cancellations that this process sends. It claims none of them, although a lease may end before the outcome is
   * recorded: a second copy makes a refusal uncertain.
   */
  readonly sending: ReadonlySet<number>;
  readonly observer: CancellationObserver;
  readonly checkpoint: ReachCheckpoint;
  readonly clock: () => Date;
  readonly leaseMs: number;
  /** Longest pause in milliseconds between two queries of the database. */
  readonly idleMs: number;
}): DueWork<Cancellation> {
  /** The stored certificate of the issuer; null if it cannot sign now. */
  async function certificateOf({ issuerRnc, accountId, id }: Cancellation): Promise<SigningCertificate | null> {
    const taxpayer = await taxpayers.lastKnown(issuerRnc);
    try {
      return taxpayer === null || taxpayer.account_id !== accountId ? null : certificates.stored(taxpayer);
    } catch (error) {
      observer.failed('opening a certificate for a cancellation', error, id);
      return null;
    }
  }

  return createDueWork<Cancellation>({
    ...options,
    store: {
      async claimDue(request) {
        const claimed = await cancellations.claimDue({ ...request, except: [...sending] });
        if (claimed.length > 0) await checkpoint('claimed');
        return claimed;
      },
    },
    async handle(cancellation) {
      await send(cancellation, await certificateOf(cancellation));
    },
    onError: (error, cancellation) =>
      observer.failed(
        cancellation === undefined ? 'looking for cancellations that are due' : 'sending a cancellation',
        error,
        cancellation?.id,
      ),
    concurrency: 1,
  });
}
