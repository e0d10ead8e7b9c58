import { LoginError } from '@ecf/authority-client/login';
import type { WaitingCause } from '@ecf/domain';
import type { AlarmKind, Attempt } from '../attempt/attempt.js';
import { asFound } from '../attempt/submission-history.js';
import { backInQueue, explained, postponed } from '../attempt/transitions.js';
import type { DocumentTokens } from '../credentials/document-credentials.js';
import type { TokenSource } from '../credentials/token-source.js';
import { createFindOutcome } from './find-outcome.js';
import type { SendingPorts } from './ports.js';
import type { SendAttempt } from './send-attempt.js';
import { stepWithoutAuthority } from './step-without-authority.js';

export interface FollowUp {
  /**
   * Takes the next step of an attempt that this instance leased: looks a lost send up, sends, or raises the alarm that it is
   * overdue. The status poller queries results. Resolves with the attempt without a lease.
   *
   * @param tokens a caller's token; without it, tokens of a certificate that this service holds
   */
  advance(attempt: Attempt, tokens?: TokenSource): Promise<Attempt>;
}

export function createFollowUp(ports: SendingPorts, sendAttempt: SendAttempt, ownTokens: DocumentTokens): FollowUp {
  const { recorder } = ports;
  const findOutcome = createFindOutcome(ports);

  return {
    async advance(attempt, tokens) {
      const done = await stepWithoutAuthority(ports, attempt, postpone);
      if (done !== null) return done;
      const source = tokens ?? (await ownTokens(attempt));
      if (source === null) return postpone(attempt, 'no-certificate');
      let token: string;
      try {
        token = await source.get();
      } catch (error) {
        if (!(error instanceof LoginError)) throw error;
        if (attempt.queuedAt && error.isUnanswered) {
          await ports.contingency.unreached(attempt);
          return recorder.record(attempt, (present) =>
            present.revision === attempt.revision ? backInQueue(postponed(present, recorder.moment())) : null,
          );
        }
        // The login may fail for this taxpayer alone, so the documents of others are sent first.
        if (attempt.queuedAt) await ports.contingency.answered(attempt, ports.clock());
        return postpone(attempt, undefined, error);
      }
      switch (attempt.state) {
        case 'committed':
        case 'resend-due':
          return send(attempt, token, source);
        case 'unknown':
        case 'arrived':
          return findOutcome(attempt, token, source);
        default:
          return attempt;
      }
    },
  };

  async function send(attempt: Attempt, token: string, tokens: TokenSource): Promise<Attempt> {
    const file = attempt.route === 'rfce' ? attempt.rfce : attempt.xml;
    let bytes: Buffer;
    try {
      if (file === null) throw new Error(`${attempt.encf} goes as a summary and has none`);
      bytes = await ports.archive.get(file.path, file.sha256);
    } catch (error) {
      ports.observer.failed('reading a document to send', error, attempt);
      return postpone(attempt, 'document-lost');
    }
    const sending = await recorder.claimSend(attempt);
    // After a concurrent change, the other request sends the document or found that it must not be sent.
    if (sending === null) return asFound(attempt, await ports.emissions.find(attempt));
    await ports.checkpoint('resend-committed');
    return sendAttempt(sending, bytes, token, tokens);
  }

  async function postpone(attempt: Attempt, alarm?: AlarmKind, login: LoginError | null = null): Promise<Attempt> {
    const pauseMs = login?.retryAfterMs ?? null;
    const after = await recorder.record(attempt, (present) =>
      present.revision === attempt.revision
        ? explained(postponed(present, recorder.moment(), pauseMs, alarm), login && causeOfLogin(login))
        : null,
    );
    // It failed because of its own content, so it did not probe the authority. Its later tries delay no other document.
    if (attempt.queuedAt && attempt.failures === 0) await ports.contingency.probeNow(attempt, ports.clock());
    return after;
  }
}

function causeOfLogin({ limit, isUnanswered }: LoginError): WaitingCause {
  if (limit !== null) return `${limit}-limited`;
  return isUnanswered ? 'no-answer' : 'odd-answer';
}
