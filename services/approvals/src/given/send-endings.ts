import type { Answer, ApprovalDeliveryAnswer, ApprovalVerdict, RawAnswer } from '@ecf/authority-client';
import { retryDelay, storableText, withoutAccents } from '@ecf/domain';
import type { Exchange, Ports, Progress, Target } from '../ports.js';
import { nextLookUp, obeyedPause } from '../sending/retry-times.js';
import type { GivenApproval } from './given-approval.js';

const MOST_RESPONSE = 8_000;
const LONGEST_ERROR = 1_000;

/** The outcome of a send, before it is recorded. */
export interface Ending {
  readonly progress: Progress;
  readonly exchange: Exchange | null;
  readonly word: string;
}

type EndingPorts = Pick<Ports, 'clock' | 'random' | 'settings'>;

/** How a send to the authority ends with this answer. `arrivedBefore`: an earlier send may have arrived. */
export function endingAtAuthority(
  ports: EndingPorts,
  approval: GivenApproval,
  answer: Answer<ApprovalVerdict>,
  arrivedBefore: boolean,
): Ending {
  const now = ports.clock();
  const raw = answer.raw;
  const response = raw === null ? approval.authority.response : storableText(raw.body, MOST_RESPONSE);
  const sentAt = approval.authority.sentAt ?? (arrived(answer) ? now : null);
  const side = { target: 'authority', response, sentAt } as const;
  const exchange = exchangeOf('authority', answer, raw, now);
  if (answer.outcome === 'verdict' && !answer.verdict.transient) {
    const { status, alreadyAccepted } = answer.verdict;
    // Where none of our sends may have arrived, the earlier decision is somebody else's.
    const ours = alreadyAccepted && arrivedBefore;
    const final = ours ? 'Aceptado' : status;
    return { progress: { ...side, status: final, dueAt: null }, exchange, word: final };
  }
  if (answer.outcome === 'refused') {
    const reason = storableText(answer.reason, MOST_RESPONSE);
    return { progress: { ...side, status: 'failed', response: reason, dueAt: null }, exchange, word: 'failed' };
  }
  const dueAt = nextTry(ports, approval.authority.tries, retryAfter(answer));
  return { progress: { ...side, status: openStatus(sentAt, arrivedBefore), dueAt }, exchange, word: wordOf(answer) };
}

/** How a send to the issuer ends with this answer. */
export function endingAtIssuer(
  ports: EndingPorts,
  approval: GivenApproval,
  answer: Answer<ApprovalDeliveryAnswer>,
  arrivedBefore: boolean,
): Ending {
  const now = ports.clock();
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
  if (answer.outcome === 'refused') return { ...failedAtIssuer(approval, answer.reason), exchange };
  const detail = answer.outcome === 'unknown' ? answer.detail : 'the issuer refuses our token';
  const later = laterAtIssuer(ports, approval, detail, retryAfter(answer));
  return { ...later, progress: { ...later.progress, sentAt } as Progress, exchange };
}

function failedAtIssuer({ issuer: { sentAt } }: GivenApproval, words: string): Ending {
  const [status, error] = ['failed', storableText(words, LONGEST_ERROR)] as const;
  return { progress: { target: 'issuer', status, error, sentAt, dueAt: null }, exchange: null, word: status };
}

/** The issuer may get a receiver soon: the directory is queried again, up to the deadline. */
export function withoutReceiver(ports: EndingPorts, approval: GivenApproval): Ending {
  const { sentAt } = approval.issuer;
  const dueAt = nextLookUp(triesOf(approval), ports.clock(), issuerDeadline(ports, approval), ports.random);
  const progress = { target: 'issuer', status: 'no_receiver', error: null, sentAt, dueAt } as const;
  const exchange = notSent(ports, 'issuer', 'the directory names no address for approvals');
  return { progress, exchange, word: 'no_receiver' };
}

/** Counted from the latest request to send, by the buyer or by an operator. */
function issuerDeadline({ settings }: EndingPorts, { issuer, submittedAt, createdAt }: GivenApproval): Date {
  const since = issuer.retried?.at ?? submittedAt ?? createdAt;
  return new Date(since.getTime() + settings.issuerDeadlineMs);
}

/** Nothing was sent to the authority now; the next try follows after a pause. */
export function laterAtAuthority(
  ports: EndingPorts,
  approval: GivenApproval,
  detail: string,
  arrivedBefore: boolean,
): Ending {
  const { response, sentAt, tries } = approval.authority;
  const [status, dueAt] = [openStatus(sentAt, arrivedBefore), nextTry(ports, tries)];
  const progress = { target: 'authority', status, response, sentAt, dueAt } as const;
  return { progress, exchange: notSent(ports, 'authority', detail), word: 'later' };
}

/** The exchange of a send that did not leave. */
export function notSent(ports: EndingPorts, target: Target, detail: string): Exchange {
  const outcome = storableText(`not_sent:${detail}`, 300);
  return { target, at: ports.clock(), outcome, httpStatus: null, contentType: null, body: null };
}

/** The issuer was not reached or gave no answer: the next try follows after a pause, up to the deadline. */
export function laterAtIssuer(ports: EndingPorts, approval: GivenApproval, detail: string, waitMs = 0): Ending {
  const target = 'issuer';
  const exchange = notSent(ports, target, detail);
  const { sentAt } = approval.issuer;
  const [tries, deadline] = [triesOf(approval), issuerDeadline(ports, approval)];
  const dueAt = nextTry(ports, tries, obeyedPause(waitMs, tries, ports.clock(), deadline));
  if (dueAt > deadline)
    return { ...failedAtIssuer(approval, `The issuer could not be reached in time: ${detail}`), exchange };
  const error = storableText(detail, LONGEST_ERROR);
  return { progress: { target, status: 'pending', error, sentAt, dueAt }, exchange, word: 'later' };
}

function nextTry(ports: EndingPorts, tries: number, waitMs = 0): Date {
  const pause = retryDelay(Math.max(tries, 1), ports.settings.firstRetryMs, ports.random);
  return new Date(ports.clock().getTime() + Math.max(pause, waitMs));
}

/** Sends to the issuer begun since the latest request to send. */
function triesOf({ issuer: { tries, retried } }: GivenApproval): number {
  return Math.max(tries - (retried?.tries ?? 0), 1);
}

/** The authority's words for a document that it has. Other receivers use them too. */
function saysTakenBefore(text: string): boolean {
  const plain = withoutAccents(text).toLowerCase();
  return plain.includes('ya habia sido cargada y aceptada previamente');
}

/** Without a decision: the approval may have arrived, or certainly did not. It is sent again either way. */
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
