import type { Answer, AuthorityMessage, CancellationVerdict } from '@ecf/authority-client';
import { retryDelay, withoutAccents } from '@ecf/domain';
import { merged, type NumberRange, rangeOf, without } from '@ecf/domain/number-set';
import { OVERDUE_MS } from '../attempt/transitions.js';
import { type Cancellation, type CancellationProgress, type CancellationState, rangesOf } from './cancellation.js';

/** When a decision is made, and what the next pause is made of. */
export interface RetryTimes {
  readonly now: Date;
  readonly random: () => number;
  readonly firstRetryMs: number;
}

export type AnsweredVerdict = Extract<Answer<CancellationVerdict>, { outcome: 'verdict' }>;

/** The progress of a cancellation after an answer. */
export function afterAnswer(
  before: Cancellation,
  answer: Answer<CancellationVerdict>,
  times: RetryTimes,
): CancellationProgress {
  const response = answer.raw?.body ?? before.response;
  if (answer.outcome !== 'verdict') {
    const reached = answer.outcome === 'unknown' && answer.reachedAuthority === 'maybe';
    const waitMs = answer.outcome === 'unknown' ? (answer.retryAfterMs ?? 0) : 0;
    return { ...sentLater(before, times, { reached, waitMs }), response };
  }
  const { status, heading, messages } = answer.verdict;
  const answered = { ...before, sentAt: before.sentAt ?? times.now, response, nextActionAt: null };
  if (status === 'Aceptado') return { ...answered, state: 'accepted', refused: [], alarm: null };
  if (before.lostSends > 0) return { ...answered, state: 'submitted', alarm: 'cancellation-open' };
  const requested = rangesOf(before.lines);
  if (status === 'Rechazado' && leavesSomeOpen(heading, messages, requested))
    return { ...answered, state: 'submitted', refused: [], alarm: 'cancellation-unreadable' };
  if (status === 'Rechazado') return { ...answered, state: 'rejected', refused: [], alarm: null };
  const refused = refusedNumbers(heading, messages, requested);
  return {
    ...answered,
    state: 'partial',
    refused: refused ?? [],
    alarm: refused === null ? 'cancellation-unreadable' : null,
  };
}

/**
 * Due again after a pause that grows to an hour, without end.
 *
 * @param reached whether the send may have reached the authority
 * @param waitMs the least pause in milliseconds
 */
export function sentLater(
  before: Cancellation,
  { now, random, firstRetryMs }: RetryTimes,
  { reached, waitMs = 0 }: { reached: boolean; waitMs?: number },
): CancellationProgress {
  const failures = before.failures + 1;
  const pause = Math.max(retryDelay(failures, firstRetryMs, random), waitMs);
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

const UNDECIDED: ReadonlySet<CancellationState> = new Set(['sending', 'failed', 'submitted']);

/**
 * The progress after a verdict on a send whose lease ended, so that the cancellation was claimed again meanwhile; null if it
 * stays as it is. A decision of the authority or a person stays. A full acceptance counts in any case. A refusal does not show
 * the outcome of other copies: a copy in flight decides by its own answer, and a lost one stays open.
 */
export function afterLateVerdict(
  present: Cancellation,
  answered: AnsweredVerdict,
  times: RetryTimes,
): CancellationProgress | null {
  if (!UNDECIDED.has(present.state)) return null;
  const isRefusal = answered.verdict.status !== 'Aceptado';
  if (isRefusal && (present.state === 'sending' || present.nextActionAt === null)) return null;
  return afterAnswer(present, answered, times);
}

/** One number, or the first and last of a range, with known words between them. */
const NAMED = /(E\d{12})(?:\s*(?:-|–|a|al|hasta)\s*(E\d{12}))?/giu;
const SEPARATORS = /^[\s,;.]*$/;

/** Known texts, and whether they refuse the numbers that follow. Source: Descripción Técnica v1.6 pp.31-32. */
const HEADINGS: readonly { readonly text: string; readonly refused: boolean }[] = [
  { text: 'las secuencias fueron anuladas correctamente. con excepcion de las secuencias del detalle', refused: true },
  { text: 'las secuencias fueron anuladas correctamente con excepcion de las secuencias del detalle', refused: true },
  { text: 'las secuencias fueron anuladas correctamente', refused: false },
  { text: 'no fue posible anular las siguientes secuencias', refused: true },
  { text: 'las secuencias que esta intentando anular han sido utilizadas', refused: true },
];

/**
 * The numbers that a partial success refuses, merged. Null if that is not certain: the format is not published, so
 * any text but a known heading or requested numbers may mean anything.
 */
export function refusedNumbers(
  heading: string | null,
  messages: readonly AuthorityMessage[],
  requested: readonly NumberRange[],
): NumberRange[] | null {
  const named = namedAsRefused(textsOf(heading, messages));
  return named === null || named.length === 0 || without(named, requested).length > 0 ? null : merged(named);
}

/**
 * Whether a refusal leaves the outcome of some numbers open: it refuses "the following" numbers and names only some
 * of the requested ones. A refusal without numbers concerns all of them.
 */
function leavesSomeOpen(
  heading: string | null,
  messages: readonly AuthorityMessage[],
  requested: readonly NumberRange[],
): boolean {
  const texts = textsOf(heading, messages);
  const isAboutSome = texts.some((plain) => HEADINGS.some(({ text, refused }) => refused && plain.startsWith(text)));
  if (!isAboutSome || !texts.some((plain) => /e\d{12}/.test(plain))) return false;
  const named = namedAsRefused(texts);
  return named === null || without(requested, named).length > 0;
}

/** The numbers after a text of refusal; null if another text may concern numbers. */
function namedAsRefused(texts: readonly string[]): NumberRange[] | null {
  const named: NumberRange[] = [];
  let refused: boolean | null = null;
  for (const plain of texts) {
    const known = HEADINGS.find((each) => plain.startsWith(each.text));
    if (known !== undefined) refused = known.refused;
    else if (refused === null && !/\d{12}/.test(plain)) continue;
    const rest = known === undefined ? plain : plain.slice(known.text.length).replace(/^[:.\s]+/, '');
    if (!SEPARATORS.test(rest.replace(NAMED, '')) || (refused === null && rest !== '')) return null;
    if (refused !== true) continue;
    for (const [, first = '', last = first] of rest.matchAll(NAMED)) {
      const range = rangeOf(first, last);
      if (range !== null) named.push(range);
    }
  }
  return named;
}

function textsOf(heading: string | null, messages: readonly AuthorityMessage[]): string[] {
  return [...(heading === null ? [] : [heading]), ...messages.map(({ valor }) => valor)].map(fold);
}

function fold(text: string): string {
  return withoutAccents(text).toLowerCase().replace(/\s+/g, ' ').trim();
}
