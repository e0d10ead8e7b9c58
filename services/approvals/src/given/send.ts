import type { DocumentReader } from '@ecf/archive';
import type {
  Answer,
  ApprovalDeliveryAnswer,
  ApprovalVerdict,
  AuthorityClient,
  DirectoryEntry,
  ReceiverClient,
  TokenProvider,
} from '@ecf/authority-client';
import { callWithToken, LoginError } from '@ecf/authority-client/login';
import { storableText, withoutAccents } from '@ecf/domain';
import type { Certificates, TaxpayerReplica } from '@ecf/taxpayer-replica';
import { messageOf } from '../errors.js';
import { endingWith, later, type RetryRules, recordEnding, withoutReceiver } from '../sending/endings.js';
import { type Caller, EndpointLoginError } from '../sending/endpoint-logins.js';
import type { Endpoints } from '../sending/endpoints.js';
import { type Claimed, type Ending, mayHaveArrived, type Send } from '../sending/outgoing.js';
import type { FailureReport } from '../sending/ports.js';
import type { ApprovalStore, Exchange, Target } from './ports.js';

export interface SendParts {
  readonly store: Pick<ApprovalStore, 'conclude'>;
  readonly taxpayers: Pick<TaxpayerReplica, 'taxpayer'>;
  readonly certificates: Certificates;
  /** Reads committed documents, before and after they reach the archive. */
  readonly archive: DocumentReader;
  readonly rules: RetryRules;
  readonly report: FailureReport & { sent(target: Target, outcome: string): void };
  readonly stopping: AbortSignal;
}

export interface SendToAuthorityParts extends SendParts {
  readonly client: Pick<AuthorityClient, 'submitCommercialApproval'>;
  readonly tokens: TokenProvider;
}

export interface SendToIssuerParts extends SendParts {
  readonly client: Pick<ReceiverClient, 'deliverApproval'>;
  readonly endpoints: Endpoints;
}

/** How a send ended, and the answer that it brought. */
interface Ended {
  readonly ending: Ending;
  readonly exchange: Exchange;
}

const MOST_RESPONSE = 8_000;
const LONGEST_ERROR = 1_000;

/**
 * Sends an approval to the authority: always the same bytes, until it has decided. A lost answer is sent again; "was loaded
 * and accepted before" then says that the first copy arrived.
 */
export function createSendToAuthority(parts: SendToAuthorityParts): Send {
  const { rules } = parts;

  function laterAtAuthority(item: Claimed, detail: string, sentAt: Date | null = null): Ending {
    const status = mayHaveArrived(item) || sentAt !== null ? 'submitted' : 'failed';
    return { ...later(item, rules, detail, { status, outcome: 'later', sentAt }), error: item.lastError };
  }

  const notSent = (item: Claimed, detail: string): Ended => ({
    ending: laterAtAuthority(item, detail),
    exchange: withoutAnswer(rules.clock(), detail),
  });

  async function attempt(item: Claimed): Promise<Ended> {
    const caller = await callerOf(parts, item);
    if (caller === null) return notSent(item, 'no certificate to log in with');
    const { env, encf } = item.key;
    const { buyerRnc } = item;
    let xml: Uint8Array;
    try {
      xml = await parts.archive.get(item.xml.path, item.xml.sha256);
    } catch (error) {
      return notSent(item, `the stored document cannot be read: ${messageOf(error)}`);
    }
    try {
      const answer = await callWithToken(parts.tokens, caller, (token) =>
        parts.client.submitCommercialApproval({ env, token, buyerRnc, encf, xml }),
      );
      return { ending: endingOf(item, answer), exchange: exchangeOf(answer, rules.clock()) };
    } catch (error) {
      if (error instanceof LoginError) return notSent(item, error.message);
      throw error;
    }
  }

  function endingOf(item: Claimed, answer: Answer<ApprovalVerdict>): Ending {
    const response = answer.raw === null ? item.lastError : storableText(answer.raw.body, MOST_RESPONSE);
    const sentAt = arrived(answer) ? rules.clock() : null;
    if (answer.outcome === 'verdict' && !answer.verdict.transient) {
      const { status, alreadyAccepted } = answer.verdict;
      // If none of our sends may have arrived, the earlier decision is not ours.
      const final = alreadyAccepted && mayHaveArrived(item) ? 'Aceptado' : status;
      return endingWith({ status: final, outcome: final, error: response, sentAt });
    }
    if (answer.outcome === 'refused')
      return endingWith({
        status: 'failed',
        outcome: 'failed',
        error: storableText(answer.reason, MOST_RESPONSE),
        sentAt,
      });
    const pauseMs = retryAfter(answer);
    const status = mayHaveArrived(item) || sentAt !== null ? 'submitted' : 'failed';
    return { ...later(item, rules, '', { status, outcome: wordOf(answer), pauseMs, sentAt }), error: response };
  }

  return async (item) =>
    record(parts, item, 'authority', await attempt(item), (detail, sentAt) => laterAtAuthority(item, detail, sentAt));
}

/** Sends an approval to the issuer of its e-CF: always the same bytes, up to the deadline. */
export function createSendToIssuer(parts: SendToIssuerParts): Send {
  const { rules, endpoints } = parts;

  function laterAtIssuer(item: Claimed, detail: string, pauseMs = 0, sentAt: Date | null = null): Ending {
    const ending = later(item, rules, detail, { status: 'pending', outcome: 'later', pauseMs, sentAt });
    if (ending.status !== 'failed') return ending;
    const error = storableText(`The issuer could not be reached in time: ${detail}`, LONGEST_ERROR);
    return { ...ending, outcome: 'failed', error };
  }

  const notSent = (item: Claimed, detail: string, pauseMs = 0): Ended => ({
    ending: laterAtIssuer(item, detail, pauseMs),
    exchange: withoutAnswer(rules.clock(), detail),
  });

  async function attempt(item: Claimed): Promise<Ended> {
    const caller = await callerOf(parts, item);
    if (caller === null) return notSent(item, 'no certificate to look the issuer up with');
    const { buyerRnc } = item;
    const { issuerRnc, encf } = item.key;
    let answer: Answer<ApprovalDeliveryAnswer>;
    let entry: DirectoryEntry | null;
    try {
      entry = await endpoints.find(caller, issuerRnc, 'approvalUrl');
      if (entry === null || entry.approvalUrl === null) {
        const exchange = withoutAnswer(rules.clock(), 'the directory names no address for approvals');
        return { ending: withoutReceiver(item, rules, null), exchange };
      }
      const baseUrl = entry.approvalUrl;
      const xml = await parts.archive.get(item.xml.path, item.xml.sha256);
      answer = await endpoints.call(caller, entry, (token) =>
        parts.client.deliverApproval({ baseUrl, token, buyerRnc, encf, xml }),
      );
    } catch (error) {
      return notSent(item, messageOf(error), error instanceof EndpointLoginError ? error.pauseMs : 0);
    }
    if (answer.outcome === 'unknown' && answer.cause !== 'circuit_open') endpoints.expire(caller, issuerRnc);
    const ended = { ending: endingOf(item, answer), exchange: exchangeOf(answer, rules.clock()) };
    return ended.ending.status === 'refused' ? refusedUnlessMoved(item, ended, caller, entry) : ended;
  }

  function endingOf(item: Claimed, answer: Answer<ApprovalDeliveryAnswer>): Ending {
    const sentAt = arrived(answer) ? rules.clock() : null;
    if (answer.outcome === 'verdict') {
      const { accepted, messages } = answer.verdict;
      const texts = messages.map(({ valor }) => valor);
      if (accepted || (mayHaveArrived(item) && texts.some(saysTakenBefore)))
        return endingWith({ status: 'delivered', outcome: 'delivered', sentAt });
      const error = storableText(texts.join(' ') || 'The issuer refused it.', LONGEST_ERROR);
      return endingWith({ status: 'refused', outcome: 'refused', error, sentAt });
    }
    if (answer.outcome === 'refused')
      return endingWith({
        status: 'failed',
        outcome: 'failed',
        error: storableText(answer.reason, LONGEST_ERROR),
        sentAt,
      });
    const detail = answer.outcome === 'unknown' ? answer.detail : 'the issuer refuses our token';
    return laterAtIssuer(item, detail, retryAfter(answer), sentAt);
  }

  /** A refusal counts only while the directory lists the issuer there: otherwise it is that of a former provider. */
  async function refusedUnlessMoved(
    item: Claimed,
    refused: Ended,
    caller: Caller,
    called: DirectoryEntry,
  ): Promise<Ended> {
    let words = 'It was refused at an address where the directory no longer lists the issuer.';
    try {
      if (!(await endpoints.moved(caller, called, 'approvalUrl'))) return refused;
    } catch (error) {
      words = `It was refused, and the directory does not say where the issuer is listed now: ${messageOf(error)}`;
    }
    return { ...refused, ending: laterAtIssuer(item, words) };
  }

  return async (item) =>
    record(parts, item, 'issuer', await attempt(item), (detail, sentAt) => laterAtIssuer(item, detail, 0, sentAt));
}

async function record(
  { store, rules, report, stopping }: SendParts,
  item: Claimed,
  target: Target,
  { ending, exchange }: Ended,
  laterAt: (detail: string, sentAt: Date | null) => Ending,
) {
  report.sent(target, ending.outcome);
  const unwritten = { ...withoutAnswer(rules.clock(), ''), outcome: 'unwritable' };
  await recordEnding((one) => store.conclude(item, one, one === ending ? exchange : unwritten), ending, {
    answered: exchange.httpStatus !== null,
    key: item.key,
    unwritable: (detail) => laterAt(detail, ending.sentAt),
    report,
    stopping,
  });
  return { health: 'neutral', pauseMs: 0 } as const;
}

/**
 * The buyer in whose name an approval is sent. A signed approval is sent even for a taxpayer that was deactivated since. Null
 * where the buyer has no certificate that can sign now.
 */
async function callerOf(
  { taxpayers, certificates, rules, report }: SendParts,
  { key, buyerRnc, accountId }: Claimed,
): Promise<Caller | null> {
  const buyer = await taxpayers.taxpayer(buyerRnc);
  if (buyer === null || buyer.account_id !== accountId) return null;
  try {
    const certificate = certificates.open(buyer, rules.clock());
    return { env: key.env, account: accountId, rnc: buyer.rnc, certificate };
  } catch (error) {
    report.failed('opening a certificate', error);
    return null;
  }
}

/** The authority's words for a document that it has. Other receivers use them too. */
function saysTakenBefore(text: string): boolean {
  return withoutAccents(text).toLowerCase().includes('ya habia sido cargada y aceptada previamente');
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

function exchangeOf(answer: Answer<unknown>, at: Date): Exchange {
  const outcome = answer.outcome === 'refused' ? `refused:${answer.code}` : wordOf(answer);
  const { status, contentType, body } = answer.raw ?? { status: null, contentType: null, body: null };
  return { at, outcome, httpStatus: status, contentType, body };
}

/** The exchange of a send that did not leave. */
function withoutAnswer(at: Date, detail: string): Exchange {
  const outcome = storableText(`not_sent:${detail}`, 300);
  return { at, outcome, httpStatus: null, contentType: null, body: null };
}
