import type { TaxpayerState } from '@ecf/contracts';
import type { SigningCertificate } from '@ecf/xml-signing';
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

/**
 * Finds who answers for a buyer: the buyer where it is an active taxpayer, else the configured signer.
 *
 * Throws ReceptionError `buyer_not_served` where there is no such signer, `certificate_*` where the one who has to sign
 * cannot: nothing is recorded then, and the sender comes again.
 */
export class Receivers {
  #questions = 0;

  constructor(
    private readonly ports: Pick<Ports, 'taxpayers' | 'source' | 'certificates' | 'observer' | 'clock'>,
    private readonly settings: Pick<ReceptionSettings, 'signerRnc'>,
  ) {}

  async find(buyerRnc: string): Promise<Receiver> {
    const buyer = await this.#taxpayer(buyerRnc, (known) => isActive(known) && known.certificate !== null);
    if (buyer !== null && isActive(buyer)) return { signer: buyer, certificate: this.#open(buyer), served: true };
    const { signerRnc } = this.settings;
    if (signerRnc === null) {
      throw new ReceptionError('buyer_not_served', `${buyerRnc} is not a receiver of this deployment.`);
    }
    const signer = await this.#taxpayer(signerRnc, (known) => known.certificate !== null);
    if (signer === null) {
      throw new ReceptionError('certificate_missing', 'The taxpayer that signs for this receiver is not registered.');
    }
    return { signer, certificate: this.#open(signer), served: false };
  }

  #open(taxpayer: TaxpayerState): SigningCertificate {
    return this.ports.certificates.open(taxpayer, this.ports.clock());
  }

  /** What the copy says, unless that would turn a sender away: a registration of a moment ago counts at once. */
  async #taxpayer(rnc: string, good: (known: TaxpayerState) => boolean): Promise<TaxpayerState | null> {
    const known = await this.ports.taxpayers.taxpayer(rnc);
    if (known !== null && good(known)) return known;
    return this.#ask(rnc, known);
  }

  async #ask(rnc: string, known: TaxpayerState | null): Promise<TaxpayerState | null> {
    const { source, taxpayers, observer } = this.ports;
    if (source === null) return known;
    if (this.#questions >= MOST_QUESTIONS) throw unavailable();
    this.#questions++;
    try {
      const fresh = await source.taxpayer(rnc);
      if (fresh !== null && (known === null || fresh.revision > known.revision)) await taxpayers.replaceTaxpayer(fresh);
      return fresh ?? known;
    } catch (error) {
      observer.failed('asking the gateway for a taxpayer', error);
      throw unavailable(error);
    } finally {
      this.#questions--;
    }
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
