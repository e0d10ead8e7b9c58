import type { TaxpayerState } from '@ecf/contracts';
import { FairShare } from '@ecf/public-door';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { SigningCertificate } from '@ecf/xml-signing';
import { LRUCache } from 'lru-cache';
import { ReceptionError } from './errors.js';
import type { Ports, ReceptionSettings } from './ports.js';

/** Who answers for a buyer. */
export interface Receiver {
  /** The taxpayer in whose name the document is kept and the acknowledgement signed. */
  readonly signer: TaxpayerState;
  readonly certificate: SigningCertificate;
  /** False where the buyer is no active taxpayer of ours and the configured signer answers. */
  readonly served: boolean;
}

/** Questions to the gateway under way at once: strangers who name buyers at random shall not keep it busy. */
const MOST_QUESTIONS = 16;
/** For how long a buyer that is not served is not asked about again: as long one registered meanwhile waits at most. */
const NOT_SERVED_MS = 2_000;
const MOST_NOT_SERVED = 10_000;

/**
 * Finds who answers for a buyer: the buyer where it is an active taxpayer, else the configured signer.
 *
 * Throws ReceptionError `buyer_not_served` where there is no such signer, `certificate_*` where the one who has to sign
 * cannot: nothing is recorded then, and the sender comes again.
 */
export class Receivers {
  /** Questions under way, by who sent the document that made each necessary. */
  readonly #questions = new FairShare({ all: MOST_QUESTIONS, perSender: MOST_QUESTIONS });
  readonly #asking = new Map<string, Promise<TaxpayerState | null>>();
  /** When the gateway said last that an RNC is not served, the oldest first. */
  readonly #notServed = new LRUCache<string, number>({ max: MOST_NOT_SERVED });

  constructor(
    private readonly ports: Pick<Ports, 'taxpayers' | 'source' | 'certificates' | 'observer' | 'clock'>,
    private readonly settings: Pick<ReceptionSettings, 'signerRnc'>,
  ) {}

  /** @param network of the sender, what limits count by */
  async find(buyerRnc: string, network: string): Promise<Receiver> {
    const buyer = await this.#taxpayer(buyerRnc, network, (known) => isActive(known) && known.certificate !== null);
    if (buyer !== null && isActive(buyer)) return { signer: buyer, certificate: this.#open(buyer), served: true };
    const { signerRnc } = this.settings;
    if (signerRnc === null) {
      throw new ReceptionError('buyer_not_served', `${buyerRnc} is not a receiver of this deployment.`);
    }
    const signer = await this.#taxpayer(signerRnc, network, (known) => known.certificate !== null);
    if (signer === null) {
      throw new ReceptionError('certificate_missing', 'The taxpayer that signs for this receiver is not registered.');
    }
    return { signer, certificate: this.#open(signer), served: false };
  }

  #open(taxpayer: TaxpayerState): SigningCertificate {
    return this.ports.certificates.open(taxpayer, this.ports.clock());
  }

  /**
   * What the copy says, unless that would turn a sender away: a registration of a moment ago counts at once, or within two seconds
   * where the gateway has just said that there was none.
   */
  async #taxpayer(
    rnc: string,
    network: string,
    good: (known: TaxpayerState) => boolean,
  ): Promise<TaxpayerState | null> {
    const known = await this.ports.taxpayers.taxpayer(rnc);
    if (known !== null && good(known)) return known;
    if (this.ports.source === null || this.#wasNotServed(rnc)) return known;
    const present = this.#asking.get(rnc);
    if (present !== undefined) return present;
    if (this.#questions.tooMuch(network, 1) !== null) throw unavailable();
    this.#questions.change(network, 1);
    const question = this.#ask(this.ports.source, rnc, known).finally(() => {
      this.#asking.delete(rnc);
      this.#questions.change(network, -1);
    });
    this.#asking.set(rnc, question);
    return question;
  }

  async #ask(source: TaxpayerSource, rnc: string, known: TaxpayerState | null): Promise<TaxpayerState | null> {
    const { taxpayers, observer } = this.ports;
    try {
      const fresh = await source.taxpayer(rnc);
      if (fresh === null || !isActive(fresh)) this.#noteNotServed(rnc);
      if (fresh !== null && (known === null || fresh.revision > known.revision)) await taxpayers.replaceTaxpayer(fresh);
      return fresh ?? known;
    } catch (error) {
      observer.failed('asking the gateway for a taxpayer', error);
      throw unavailable(error);
    }
  }

  #wasNotServed(rnc: string): boolean {
    const age = this.ports.clock().getTime() - (this.#notServed.get(rnc) ?? Number.NEGATIVE_INFINITY);
    return age >= 0 && age < NOT_SERVED_MS;
  }

  #noteNotServed(rnc: string): void {
    this.#notServed.set(rnc, this.ports.clock().getTime());
  }
}

/** Better no answer than the wrong one: motive 4 tells a sender not to come again. */
function unavailable(cause?: unknown): ReceptionError {
  const message = 'Whether this buyer is served cannot be told at the moment; send the document again shortly.';
  return new ReceptionError('unavailable', message, 'unavailable', cause === undefined ? {} : { cause });
}

function isActive(taxpayer: TaxpayerState): boolean {
  return taxpayer.active && taxpayer.account_active;
}
