import type { Answer, ApprovalDeliveryAnswer, DirectoryEntry } from '@ecf/authority-client';
import { LoginError } from '@ecf/authority-client/login';
import { messageOf } from '../deliveries/delivery-ending.js';
import { Unwritable } from '../errors.js';
import type { Exchange, Ports, Progress, Target } from '../ports.js';
import { type Caller, ReceiverLoginError } from '../receivers/receiver-logins.js';
import { callerFor } from './approval-caller.js';
import type { GivenApproval } from './given-approval.js';
import { type Ending, SendEndings } from './send-endings.js';

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

/**
 * Sends approvals to the authority and to issuers: always the same bytes, until one side has decided. A lost answer is
 * sent again; that it "was loaded and accepted before" then says that the first copy arrived.
 */
export class SendApproval {
  readonly #underWay = new Set<Promise<void>>();
  /** Whose claims are prolonged: only until there is an end to write down, which says when it is due again. */
  readonly #claims: Readonly<Record<Target, Set<number>>> = { authority: new Set(), issuer: new Set() };
  readonly #sending: Readonly<Record<Target, Set<number>>> = { authority: new Set(), issuer: new Set() };

  readonly #endings: SendEndings;

  constructor(private readonly ports: SendPorts) {
    this.#endings = new SendEndings(ports);
  }

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
          ? this.#endings.laterAtAuthority(approval, words, sentAt !== null || status === 'submitted')
          : this.#endings.laterAtIssuer(approval, words);
      const exchange: Exchange = { ...this.#endings.notSent(target, words), outcome: 'unwritable' };
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
    const caller = await callerFor(this.ports, approval);
    const arrivedBefore = await this.#mayHaveArrived(approval, 'authority');
    if (caller === null)
      return this.#endings.laterAtAuthority(approval, 'no certificate to log in with', arrivedBefore);
    const { env, buyerRnc, encf } = approval.key;
    let xml: Uint8Array;
    try {
      xml = await this.#bytes(approval);
    } catch (error) {
      return this.#endings.laterAtAuthority(
        approval,
        `the stored document cannot be read: ${messageOf(error)}`,
        arrivedBefore,
      );
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
      return this.#endings.ofAuthority(approval, answer, arrivedBefore);
    } catch (error) {
      if (error instanceof LoginError) return this.#endings.laterAtAuthority(approval, error.message, arrivedBefore);
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

  async #issuer(approval: GivenApproval): Promise<Ending> {
    const caller = await callerFor(this.ports, approval);
    if (caller === null) return this.#endings.laterAtIssuer(approval, 'no certificate to look the issuer up with');
    // Asked before it leaves: an answer that came is never lost to a database that does not answer.
    const arrivedBefore = await this.#mayHaveArrived(approval, 'issuer');
    const { issuerRnc, buyerRnc, encf } = approval.key;
    let answer: Answer<ApprovalDeliveryAnswer>;
    let entry: DirectoryEntry | null;
    try {
      entry = await this.ports.receivers.find(caller, issuerRnc, 'approvalUrl');
      if (entry === null || entry.approvalUrl === null) return this.#endings.withoutReceiver(approval);
      const baseUrl = entry.approvalUrl;
      const xml = await this.#bytes(approval);
      answer = await this.ports.receivers.admitted(caller, entry, (token) =>
        this.ports.issuers.deliverApproval({ baseUrl, token, buyerRnc, encf, xml }),
      );
    } catch (error) {
      const pauseMs = error instanceof ReceiverLoginError ? error.pauseMs : 0;
      return this.#endings.laterAtIssuer(approval, messageOf(error), pauseMs);
    }
    if (answer.outcome === 'unknown') this.ports.receivers.doubt(caller, issuerRnc);
    const ending = this.#endings.ofIssuer(approval, answer, arrivedBefore);
    return ending.word === 'refused' ? this.#refusedUnlessMoved(approval, ending, caller, entry) : ending;
  }

  /** A refusal stands only while its issuer is listed there: else it is said by somebody who served it before. */
  async #refusedUnlessMoved(
    approval: GivenApproval,
    refused: Ending,
    caller: Caller,
    called: DirectoryEntry,
  ): Promise<Ending> {
    let words = 'It was refused where its issuer is listed no more.';
    try {
      if (!(await this.ports.receivers.moved(caller, called, 'approvalUrl'))) return refused;
    } catch (error) {
      words = `It was refused, and the directory cannot be asked where its issuer is listed now: ${messageOf(error)}`;
    }
    return { ...this.#endings.laterAtIssuer(approval, words), exchange: refused.exchange };
  }

  #bytes({ xml }: GivenApproval): Promise<Buffer> {
    return this.ports.archive.get(xml.path, xml.sha256);
  }
}
