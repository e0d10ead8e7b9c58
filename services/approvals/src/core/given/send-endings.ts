import type { Answer, ApprovalDeliveryAnswer, ApprovalVerdict, RawAnswer } from '@ecf/authority-client';
import { retryDelay, storableText } from '@ecf/domain';
import type { Exchange, Ports, Progress, Target } from '../ports.js';
import { nextLookUp, obeyedPause } from '../receivers/retry-times.js';
import type { GivenApproval } from './given-approval.js';

const MOST_RESPONSE = 8_000;
const LONGEST_ERROR = 1_000;

/** How a send ended, before it is written down. */
export interface Ending {
  readonly progress: Progress;
  readonly exchange: Exchange | null;
  readonly word: string;
}

/** What an answer to an approval, or none, means for it and for its next send. */
export class SendEndings {
  constructor(private readonly ports: Pick<Ports, 'clock' | 'random' | 'settings'>) {}

  /** `arrivedBefore`: an earlier send may have arrived. */
  ofAuthority(approval: GivenApproval, answer: Answer<ApprovalVerdict>, arrivedBefore: boolean): Ending {
    const now = this.ports.clock();
    const raw = answer.raw;
    const response = raw === null ? approval.authority.response : storableText(raw.body, MOST_RESPONSE);
    const sentAt = approval.authority.sentAt ?? (arrived(answer) ? now : null);
    const side = { target: 'authority', response, sentAt } as const;
    const exchange = exchangeOf('authority', answer, raw, now);
    if (answer.outcome === 'verdict' && !answer.verdict.transient) {
      const { status, alreadyAccepted } = answer.verdict;
      // Only of a document that may have arrived before: otherwise somebody else's decision stands there.
      const ours = alreadyAccepted && arrivedBefore;
      const final = ours ? 'Aceptado' : status;
      return { progress: { ...side, status: final, dueAt: null }, exchange, word: final };
    }
    if (answer.outcome === 'refused') {
      return {
        progress: { ...side, status: 'failed', response: storableText(answer.reason, MOST_RESPONSE), dueAt: null },
        exchange,
        word: 'failed',
      };
    }
    const dueAt = this.#next(approval.authority.tries, retryAfter(answer));
    return { progress: { ...side, status: openStatus(sentAt, arrivedBefore), dueAt }, exchange, word: wordOf(answer) };
  }

  /** The same of the issuer. */
  ofIssuer(approval: GivenApproval, answer: Answer<ApprovalDeliveryAnswer>, arrivedBefore: boolean): Ending {
    const now = this.ports.clock();
    const exchange = exchangeOf('issuer', answer, answer.raw, now);
    const sentAt = approval.issuer.sentAt ?? (arrived(answer) ? now : null);
    if (answer.outcome === 'verdict') {
      const { accepted, messages } = answer.verdict;
      const taken = accepted || (arrivedBefore && messages.some(({ valor }) => saysTakenBefore(valor)));
      const error = taken
        ? null
        : storableText(messages.map(({ valor }) => valor).join(' ') || 'The issuer refused it.', LONGEST_ERROR);
      const status = taken ? 'delivered' : 'refused';
      return { progress: { target: 'issuer', status, error, sentAt, dueAt: null }, exchange, word: status };
    }
    if (answer.outcome === 'refused') return { ...this.#failed(approval, answer.reason), exchange };
    const detail = answer.outcome === 'unknown' ? answer.detail : 'the issuer refuses our token';
    const later = this.laterAtIssuer(approval, detail, retryAfter(answer));
    return { ...later, progress: { ...later.progress, sentAt } as Progress, exchange };
  }

  #failed({ issuer: { sentAt } }: GivenApproval, words: string): Ending {
    const [status, error] = ['failed', storableText(words, LONGEST_ERROR)] as const;
    return { progress: { target: 'issuer', status, error, sentAt, dueAt: null }, exchange: null, word: status };
  }

  /** Who has no receiver today may have one soon: the directory is asked again, up to the deadline. */
  withoutReceiver(approval: GivenApproval): Ending {
    const { sentAt } = approval.issuer;
    const deadline = this.#issuerDeadline(approval);
    const dueAt = nextLookUp(triesOf(approval), this.ports.clock(), deadline, this.ports.random);
    const progress = { target: 'issuer', status: 'no_receiver', error: null, sentAt, dueAt } as const;
    const exchange = this.notSent('issuer', 'the directory names no address for approvals');
    return { progress, exchange, word: 'no_receiver' };
  }

  /** Of the send that was asked for last, by the buyer or by a person. */
  #issuerDeadline({ issuer, submittedAt, createdAt }: GivenApproval): Date {
    const since = issuer.retried?.at ?? submittedAt ?? createdAt;
    return new Date(since.getTime() + this.ports.settings.issuerDeadlineMs);
  }

  /** Nothing went to the authority now; again after a pause. */
  laterAtAuthority(approval: GivenApproval, detail: string, arrivedBefore: boolean): Ending {
    const { response, sentAt, tries } = approval.authority;
    const [status, dueAt] = [openStatus(sentAt, arrivedBefore), this.#next(tries)];
    const progress = { target: 'authority', status, response, sentAt, dueAt } as const;
    return { progress, exchange: this.notSent('authority', detail), word: 'later' };
  }

  /** A send that did not leave, as it is kept. */
  notSent(target: Target, detail: string): Exchange {
    const outcome = storableText(`not_sent:${detail}`, 300);
    return { target, at: this.ports.clock(), outcome, httpStatus: null, contentType: null, body: null };
  }

  /** The issuer could not be asked, or gave no answer: again after a pause, up to its deadline. */
  laterAtIssuer(approval: GivenApproval, detail: string, waitMs = 0): Ending {
    const target = 'issuer';
    const exchange = this.notSent(target, detail);
    const [{ sentAt }, tries, deadline] = [approval.issuer, triesOf(approval), this.#issuerDeadline(approval)];
    const dueAt = this.#next(tries, obeyedPause(waitMs, tries, this.ports.clock(), deadline));
    if (dueAt > deadline)
      return { ...this.#failed(approval, `The issuer could not be reached in time: ${detail}`), exchange };
    const error = storableText(detail, LONGEST_ERROR);
    return { progress: { target, status: 'pending', error, sentAt, dueAt }, exchange, word: 'later' };
  }

  #next(tries: number, waitMs = 0): Date {
    const pause = retryDelay(Math.max(tries, 1), this.ports.settings.firstRetryMs, this.ports.random);
    return new Date(this.ports.clock().getTime() + Math.max(pause, waitMs));
  }
}

/** Sends to the issuer begun since they were asked for last. */
function triesOf({ issuer: { tries, retried } }: GivenApproval): number {
  return Math.max(tries - (retried?.tries ?? 0), 1);
}

/** The authority's words for a document that it has, which other receivers use too. */
function saysTakenBefore(text: string): boolean {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.includes('ya habia sido cargada y aceptada previamente');
}

/** An approval without decision may have arrived, or certainly did not; it is sent again either way. */
function openStatus(sentAt: Date | null, arrivedBefore: boolean): 'submitted' | 'failed' {
  return sentAt !== null || arrivedBefore ? 'submitted' : 'failed';
}

function arrived(answer: Answer<unknown>): boolean {
  return answer.outcome === 'verdict' || (answer.outcome === 'unknown' && answer.reachedAuthority === 'maybe');
}

function retryAfter(answer: Answer<unknown>): number {
  return answer.outcome === 'unknown' ? (answer.retryAfterMs ?? 0) : 0;
}

function wordOf(answer: Answer<unknown>): string {
  return answer.outcome === 'unknown' ? `unknown:${answer.cause}` : answer.outcome;
}

function exchangeOf(target: Target, answer: Answer<unknown>, raw: RawAnswer | null, at: Date): Exchange {
  const outcome = answer.outcome === 'refused' ? `refused:${answer.code}` : wordOf(answer);
  return {
    target,
    at,
    outcome,
    httpStatus: raw?.status ?? null,
    contentType: raw?.contentType ?? null,
    body: raw?.body ?? null,
  };
}
