import type { SeedSigner } from '@ecf/authority-client/login';
import { ApiError } from '@ecf/service-kit/errors';
import type { Caller } from '../receivers/receivers.js';
import type { Delivery } from './delivery.js';
import { wordsOf } from './delivery-ending.js';
import type { DeliveryPorts } from './delivery-ports.js';

type CallerPorts = Pick<DeliveryPorts, 'taxpayers' | 'source' | 'certificates' | 'signing' | 'clock'>;

/** In whose name a document is delivered. */
export class DeliveryCaller {
  constructor(private readonly ports: CallerPorts) {}

  /**
   * The issuer as last heard of, with its stored certificate, else with the one that came along with the document: what was
   * accepted is still delivered for a taxpayer that was deactivated since. With neither, what is missing, in words.
   */
  async of({ key, accountId }: Delivery): Promise<Caller | string> {
    const issuer = (await this.ports.taxpayers.taxpayer(key.issuerRnc)) ?? (await this.#asked(key.issuerRnc));
    if (issuer === null || issuer.account_id !== accountId) return `${key.issuerRnc} is not known here (yet)`;
    const caller = { env: key.env, account: accountId };
    try {
      return { ...caller, certificate: this.ports.certificates.open(issuer, this.ports.clock()) };
    } catch (error) {
      const signer = await this.#sentAlong(key);
      if (typeof signer !== 'string') return { ...caller, certificate: signer };
      return `${wordsOf(error)} ${signer} Upload one in the administration; the delivery then goes on by itself.`;
    }
  }

  /** Emission signs seeds with the certificate that came along with a document; says why not where it cannot. */
  async #sentAlong({ env, issuerRnc, encf }: Delivery['key']): Promise<SeedSigner | string> {
    const document = { env, issuer_rnc: issuerRnc, encf };
    try {
      const { fingerprint } = await this.ports.signing.signSeed({ ...document, seed: null });
      return {
        fingerprint,
        signSeed: async (seed) => {
          const { signed_seed: signed } = await this.ports.signing.signSeed({ ...document, seed });
          if (signed === null) throw new Error('emission signed nothing');
          return signed;
        },
      };
    } catch (error) {
      return error instanceof ApiError && error.code === 'certificate_missing'
        ? 'None is kept for the document either.'
        : wordsOf(error);
    }
  }

  async #asked(rnc: string) {
    const taxpayer = (await this.ports.source?.taxpayer(rnc).catch(() => null)) ?? null;
    if (taxpayer !== null) await this.ports.taxpayers.replaceTaxpayer(taxpayer);
    return taxpayer;
  }
}
