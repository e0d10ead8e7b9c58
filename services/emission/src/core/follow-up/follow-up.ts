import { LoginError } from '@ecf/authority-client/login';
import { EMISSION_STATES, type WaitingCause } from '@ecf/domain';
import { type AlarmKind, type Attempt, type DocumentKey, isBeingSent } from '../attempt/attempt.js';
import { moment, recordTransition, tryTransition } from '../attempt/record-transition.js';
import { asFound } from '../attempt/submission-history.js';
import {
  afterReference,
  backInQueue,
  beginSend,
  explained,
  postponed,
  sendLost,
  undecided,
} from '../attempt/transitions.js';
import type { DocumentTokens } from '../credentials/document-credentials.js';
import type { TokenSource } from '../credentials/token-source.js';
import type { Ports } from '../ports.js';
import { type SendPorts, sendAttempt } from '../submit/send-attempt.js';
import { createFindOutcome } from './find-outcome.js';

export interface FollowUp {
  /**
   * Takes the next step of an attempt that this instance leased: looks a lost send up, sends, or raises the alarm that it is
   * overdue. The status poller queries results. Resolves with the attempt without a lease.
   *
   * @param tokens a caller's token; without it, tokens of a certificate that this service holds
   */
  advance(attempt: Attempt, tokens?: TokenSource): Promise<Attempt>;
}

export type FollowUpPorts = SendPorts & Pick<Ports, 'archive' | 'owner'>;

export function createFollowUp(ports: FollowUpPorts, ownTokens: DocumentTokens): FollowUp {
  const findOutcome = createFindOutcome(ports);

  return {
    async advance(attempt, tokens) {
      if (isBeingSent(attempt)) {
        // The sender ended without recording an answer: the authority may have the document.
        return recordTransition(ports, attempt, (present) =>
          isBeingSent(present) ? explained(sendLost(present, moment(ports)), 'no-answer') : null,
        );
      }
      if (attempt.state === 'held') return release(attempt);
      if (attempt.state === 'processing' || attempt.state === 'not-found') return noteOverdue(attempt);
      const source = tokens ?? (await ownTokens(attempt));
      if (source === null) return postpone(attempt, 'no-certificate');
      let token: string;
      try {
        token = await source.get();
      } catch (error) {
        if (!(error instanceof LoginError)) throw error;
        if (attempt.queuedAt && error.isUnanswered) {
          await ports.contingency.unreached(attempt);
          return recordTransition(ports, attempt, (present) =>
            present.revision === attempt.revision ? backInQueue(postponed(present, moment(ports))) : null,
          );
        }
        // The login may fail for this taxpayer alone, so others go first and need not wait.
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
    const { owner, settings } = ports;
    const sending = await tryTransition(ports, attempt, beginSend(attempt, moment(ports), owner, settings.leaseMs));
    // After a concurrent change, the other one sends it or found that nothing has to be sent.
    if (sending === null) return asFound(attempt, await ports.emissions.find(attempt));
    await ports.checkpoint('resend-committed');
    return sendAttempt(ports, sending, bytes, token, tokens);
  }

  /** A held document is sent when the document it refers to is accepted, and withdrawn when that one is refused. */
  async function release(attempt: Attempt): Promise<Attempt> {
    const [env, issuerRnc, encf] = (attempt.modifies ?? '').split(':') as [DocumentKey['env'], string, string];
    const original = await ports.emissions.find({ env, issuerRnc, encf });
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

  function noteOverdue(attempt: Attempt): Promise<Attempt> {
    return recordTransition(ports, attempt, (present) =>
      present.revision === attempt.revision ? undecided(present, null, moment(ports)) : null,
    );
  }

  async function postpone(attempt: Attempt, alarm?: AlarmKind, login: LoginError | null = null): Promise<Attempt> {
    const pauseMs = login?.retryAfterMs ?? null;
    const after = await recordTransition(ports, attempt, (present) =>
      present.revision === attempt.revision
        ? explained(postponed(present, moment(ports), pauseMs, alarm), login && causeOfLogin(login))
        : null,
    );
    // It fails for a reason of its own, so it was no probe of the authority. Later tries hold up nobody.
    if (attempt.queuedAt && attempt.failures === 0) await ports.contingency.probeNow(attempt, ports.clock());
    return after;
  }
}

function causeOfLogin({ limit, isUnanswered }: LoginError): WaitingCause {
  if (limit !== null) return `${limit}-limited`;
  return isUnanswered ? 'no-answer' : 'odd-answer';
}

/** Another document took the number: the one that the note refers to was rejected. */
function isLaterDocument(original: Attempt, note: Attempt): boolean {
  return original.attempt > (note.modifiedAttempt ?? original.attempt);
}
