import {
  type Answer,
  type ApprovalDeliveryAnswer,
  type ApprovalVerdict,
  LoginError,
  type RawAnswer,
} from '@ecf/authority-client';
import { retryDelay, storableText } from '@ecf/domain';
import { pauseWithoutReceiver } from './delivery.js';
import { Unwritable } from './errors.js';
import type { GivenApproval } from './given-approval.js';
import type { Exchange, Ports, Progress, Target } from './ports.js';
import { ReceiverLoginError } from './receiver-logins.js';
import type { Caller } from './receivers.js';

type SendPorts = Pick<
  Ports,
  | 'approvals'
  | 'taxpayers'
  | 'certificates'
  | 'archive'
  | 'authority'
  | 'issuers'
  | 'receivers'
  | 'tokens'
  | 'observer'
  | 'settings'
  | 'clock'
  | 'random'
  | 'sleep'
>;

const MOST_RESPONSE = 8_000;
const LONGEST_ERROR = 1_000;

/** How a send ended, before it is written down. */
interface Ending {
  readonly progress: Progress;
  readonly exchange: Exchange | null;
  readonly word: string;
}

/**
 * Sends approvals to the authority and to issuers: always the same bytes, until one side has decided. A lost answer is
 * sent again; that it "was loaded and accepted before" then says that the first copy arrived.
 */
export class SendApproval {
  readonly #underWay = new Set<Promise<void>>();
  /** Whose claims are prolonged: only until there is an end to write down, which says when it is due again. */
  readonly #claims: Readonly<Record<Target, Set<number>>> = { authority: new Set(), issuer: new Set() };
  readonly #sending: Readonly<Record<Target, Set<number>>> = { authority: new Set(), issuer: new Set() };

  constructor(private readonly ports: SendPorts) {}

  /**
   * Both sends of a record that was just made. Resolves with what is known when the authority has answered and the issuer
   * has had its time; what is still under way goes on.
   */
  async atOnce(approval: GivenApproval): Promise<GivenApproval> {
    const toAuthority = this.#guarded(approval, 'authority');
    const toIssuer = approval.issuer.status === 'pending' ? this.#guarded(approval, 'issuer') : Promise.resolve();
    await toAuthority;
    await Promise.race([toIssuer, this.ports.sleep(this.ports.settings.issuerWaitMs)]);
    return (await this.ports.approvals.find(approval.id)) ?? approval;
  }

  /** One send of a claimed record. */
  async send(approval: GivenApproval, target: Target): Promise<void> {
    this.#sending[target].add(approval.id);
    try {
      await this.#sendOnce(approval, target);
    } finally {
      this.#sending[target].delete(approval.id);
    }
  }

  /** What is being sent now, up to its end being written down. */
  underWay(target: Target): number[] {
    return [...this.#sending[target]];
  }

  async #sendOnce(approval: GivenApproval, target: Target): Promise<void> {
    const claims = this.#claims[target];
    claims.add(approval.id);
    let ending: Ending;
    try {
      ending = target === 'authority' ? await this.#authority(approval) : await this.#issuer(approval);
    } finally {
      claims.delete(approval.id);
    }
    this.ports.observer.sent(target, ending.word);
    await this.#written(approval, target, ending);
  }

  /** What the database can never take is left out, and it is sent again later. */
  async #written(approval: GivenApproval, target: Target, ending: Ending): Promise<void> {
    try {
      await this.ports.approvals.progress(approval, ending.progress, ending.exchange);
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      this.ports.observer.failed(`writing down how sending an approval to the ${target} ended`, error);
      const words = `What came of it cannot be written down: ${error.message}`;
      const { sentAt, status } = ending.progress;
      const later =
        target === 'authority'
          ? this.#laterThere(approval, words, sentAt !== null || status === 'submitted')
          : this.#laterToIssuer(approval, words);
      const exchange: Exchange = { ...this.#notSent(target, words), outcome: 'unwritable' };
      await this.ports.approvals.progress(approval, { ...later.progress, sentAt } as Progress, exchange);
    }
  }

  /** Prolongs the claims of what is being sent; to be called well within their life. */
  async keepClaims(): Promise<void> {
    const until = new Date(this.ports.clock().getTime() + this.ports.settings.leaseMs);
    for (const target of ['authority', 'issuer'] as const) {
      const ids = [...this.#claims[target]];
      if (ids.length > 0) await this.ports.approvals.keepClaims(target, ids, until);
    }
  }

  /** Resolves when nothing that a request began is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** What fails here is taken up again when the claim ends. */
  #guarded(approval: GivenApproval, target: Target): Promise<void> {
    const work = this.send(approval, target)
      .catch((error) => this.ports.observer.failed(`sending an approval to the ${target}`, error))
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
    return work;
  }

  async #authority(approval: GivenApproval): Promise<Ending> {
    const caller = await this.#caller(approval);
    const arrivedBefore = await this.#mayHaveArrived(approval, 'authority');
    if (caller === null) return this.#laterThere(approval, 'no certificate to log in with', arrivedBefore);
    const { env, buyerRnc, encf } = approval.key;
    let xml: Uint8Array;
    try {
      xml = await this.#bytes(approval);
    } catch (error) {
      const detail = `the stored document cannot be read: ${error instanceof Error ? error.message : error}`;
      return this.#laterThere(approval, detail, arrivedBefore);
    }
    const ask = async () => {
      const { token } = await this.ports.tokens.get(caller);
      const answer = await this.ports.authority.submitCommercialApproval({ env, token, buyerRnc, encf, xml });
      if (answer.outcome === 'unauthorized') await this.ports.tokens.invalidate({ ...caller, token });
      return answer;
    };
    try {
      let answer = await ask();
      if (answer.outcome === 'unauthorized') answer = await ask();
      return this.#judgeAuthority(approval, answer, arrivedBefore);
    } catch (error) {
      if (error instanceof LoginError) return this.#laterThere(approval, error.message, arrivedBefore);
      throw error;
    }
  }

  /** Whether an earlier send may have arrived: it is known to have left, or it ended with its process, unrecorded. */
  async #mayHaveArrived({ id, ...sides }: GivenApproval, target: Target): Promise<boolean> {
    const { sentAt, tries } = sides[target];
    if (sentAt !== null || tries <= 1) return sentAt !== null;
    if ((await this.ports.approvals.recordedSends(id, target)) < tries - 1) return true;
    // An instance that was overtaken may have written it down since this send was claimed.
    return ((await this.ports.approvals.find(id))?.[target].sentAt ?? null) !== null;
  }

  #judgeAuthority(approval: GivenApproval, answer: Answer<ApprovalVerdict>, arrivedBefore: boolean): Ending {
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

  async #issuer(approval: GivenApproval): Promise<Ending> {
    const caller = await this.#caller(approval);
    if (caller === null) return this.#laterToIssuer(approval, 'no certificate to look the issuer up with');
    // Asked before it leaves: an answer that came is never lost to a database that does not answer.
    const arrivedBefore = await this.#mayHaveArrived(approval, 'issuer');
    const { issuerRnc, buyerRnc, encf } = approval.key;
    let answer: Answer<ApprovalDeliveryAnswer>;
    try {
      const entry = await this.ports.receivers.find(caller, issuerRnc, 'approvalUrl');
      if (entry === null || entry.approvalUrl === null) return this.#withoutReceiver(approval);
      const baseUrl = entry.approvalUrl;
      const xml = await this.#bytes(approval);
      answer = await this.ports.receivers.admitted(caller, entry, (token) =>
        this.ports.issuers.deliverApproval({ baseUrl, token, buyerRnc, encf, xml }),
      );
    } catch (error) {
      const pauseMs = error instanceof ReceiverLoginError ? error.pauseMs : 0;
      return this.#laterToIssuer(approval, error instanceof Error ? error.message : String(error), pauseMs);
    }
    if (answer.outcome === 'unknown') this.ports.receivers.doubt(caller, issuerRnc);
    return this.#judgeIssuer(approval, answer, arrivedBefore);
  }

  #judgeIssuer(approval: GivenApproval, answer: Answer<ApprovalDeliveryAnswer>, arrivedBefore: boolean): Ending {
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
    const later = this.#laterToIssuer(approval, detail, retryAfter(answer));
    return { ...later, progress: { ...later.progress, sentAt } as Progress, exchange };
  }

  #failed({ issuer: { sentAt } }: GivenApproval, words: string): Ending {
    const [status, error] = ['failed', storableText(words, LONGEST_ERROR)] as const;
    return { progress: { target: 'issuer', status, error, sentAt, dueAt: null }, exchange: null, word: status };
  }

  /** Who has no receiver today may have one soon: the directory is asked again, up to the deadline. */
  #withoutReceiver(approval: GivenApproval): Ending {
    const { sentAt } = approval.issuer;
    const next = new Date(this.ports.clock().getTime() + pauseWithoutReceiver(triesOf(approval), this.ports.random));
    const dueAt = next.getTime() > this.#issuerDeadline(approval) ? null : next;
    const progress = { target: 'issuer', status: 'no_receiver', error: null, sentAt, dueAt } as const;
    const exchange = this.#notSent('issuer', 'the directory names no address for approvals');
    return { progress, exchange, word: 'no_receiver' };
  }

  /** Of the send that was asked for last, by the buyer or by a person. */
  #issuerDeadline({ issuer, submittedAt, createdAt }: GivenApproval): number {
    const since = issuer.retried?.at ?? submittedAt ?? createdAt;
    return since.getTime() + this.ports.settings.issuerDeadlineMs;
  }

  /** Nothing went to the authority now; again after a pause. */
  #laterThere(approval: GivenApproval, detail: string, arrivedBefore: boolean): Ending {
    const { response, sentAt, tries } = approval.authority;
    const [status, dueAt] = [openStatus(sentAt, arrivedBefore), this.#next(tries)];
    const progress = { target: 'authority', status, response, sentAt, dueAt } as const;
    return { progress, exchange: this.#notSent('authority', detail), word: 'later' };
  }

  #notSent(target: Target, detail: string): Exchange {
    const outcome = storableText(`not_sent:${detail}`, 300);
    return { target, at: this.ports.clock(), outcome, httpStatus: null, contentType: null, body: null };
  }

  /** The issuer could not be asked, or gave no answer: again after a pause, up to its deadline. */
  #laterToIssuer(approval: GivenApproval, detail: string, waitMs = 0): Ending {
    const target = 'issuer';
    const exchange = this.#notSent(target, detail);
    const [{ sentAt }, tries, deadline] = [approval.issuer, triesOf(approval), this.#issuerDeadline(approval)];
    // A pause that ends beyond the deadline is not kept: it would be the end at the first try.
    const asked = this.#next(tries, waitMs);
    const dueAt = asked.getTime() > deadline ? this.#next(tries) : asked;
    if (dueAt.getTime() > deadline)
      return { ...this.#failed(approval, `The issuer could not be reached in time: ${detail}`), exchange };
    const error = storableText(detail, LONGEST_ERROR);
    return { progress: { target, status: 'pending', error, sentAt, dueAt }, exchange, word: 'later' };
  }

  #next(tries: number, waitMs = 0): Date {
    const pause = retryDelay(Math.max(tries, 1), this.ports.settings.firstRetryMs, this.ports.random);
    return new Date(this.ports.clock().getTime() + Math.max(pause, waitMs));
  }

  /** The buyer as last heard of: what was signed is still sent for a taxpayer that was deactivated since. */
  async #caller({ key, accountId }: GivenApproval): Promise<Caller | null> {
    const buyer = await this.ports.taxpayers.taxpayer(key.buyerRnc);
    if (buyer === null || buyer.account_id !== accountId) return null;
    try {
      const certificate = this.ports.certificates.open(buyer, this.ports.clock());
      return { env: key.env, account: accountId, certificate };
    } catch (error) {
      this.ports.observer.failed('opening a certificate', error);
      return null;
    }
  }

  #bytes({ xml }: GivenApproval): Promise<Buffer> {
    return this.ports.archive.get(xml.path, xml.sha256);
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
