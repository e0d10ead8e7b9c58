import type { TaxpayerState } from '@ecf/contracts';
import type { TaxpayerSource } from '@ecf/http';
import type { Certificates, TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import { LRUCache } from 'lru-cache';
import { ReceptionError } from '../errors.js';
import type { Observer } from './ports.js';

/** The taxpayer that answers for a buyer. */
export interface Buyer {
  /** The taxpayer in whose name the document is kept and the acknowledgement signed. */
  readonly signer: TaxpayerState;
  readonly certificate: SigningCertificate;
  /** False if the buyer is not an active taxpayer here, so that the configured signer answers. */
  readonly served: boolean;
}

/** Queries to the gateway in flight: strangers who name buyers at random must not keep it busy. */
export const MAX_QUERIES = 16;
/** A buyer that is not served is not queried again for this time. A buyer that registers meanwhile waits as long. */
const NOT_SERVED_MS = 2_000;
const MAX_NOT_SERVED = 10_000;

export interface BuyersPorts {
  readonly taxpayers: TaxpayerReplica;
  /** Null where the deployment has no gateway to query. */
  readonly source: TaxpayerSource | null;
  readonly certificates: Certificates;
  readonly observer: Observer;
  readonly clock: () => Date;
}

/**
 * Finds who answers for a buyer: the buyer where it is an active taxpayer, else the configured signer.
 *
 * Throws ReceptionError `buyer_not_served` if no signer is configured, `certificate_*` where the signer has no usable
 * certificate. The document is not recorded then, and the sender may send it again.
 */
export function createBuyers(
  ports: BuyersPorts,
  /** RNC of the taxpayer that signs for buyers we do not serve; null = such documents get no acknowledgement. */
  signerRnc: string | null,
) {
  const queries = new Map<string, Promise<TaxpayerState | null>>();
  /** When the gateway last answered that an RNC is not served. */
  const notServed = new LRUCache<string, number>({ max: MAX_NOT_SERVED });

  async function find(buyerRnc: string): Promise<Buyer> {
    const buyer = await currentTaxpayer(buyerRnc, (known) => isActive(known) && known.certificate !== null);
    if (buyer !== null && isActive(buyer)) return { signer: buyer, certificate: open(buyer), served: true };
    if (signerRnc === null) {
      throw new ReceptionError('buyer_not_served', `${buyerRnc} is not a receiver of this deployment.`);
    }
    const signer = await currentTaxpayer(signerRnc, (known) => known.certificate !== null);
    if (signer === null) {
      throw new ReceptionError('certificate_missing', 'The taxpayer that signs for this receiver is not registered.');
    }
    return { signer, certificate: open(signer), served: false };
  }

  function open(taxpayer: TaxpayerState): SigningCertificate {
    return ports.certificates.open(taxpayer, ports.clock());
  }

  /** Reads the replica. The gateway has a new registration first, so it is queried before the replica refuses. */
  async function currentTaxpayer(rnc: string, good: (known: TaxpayerState) => boolean): Promise<TaxpayerState | null> {
    const known = await ports.taxpayers.taxpayer(rnc);
    if (known !== null && good(known)) return known;
    if (ports.source === null || wasNotServed(rnc)) return known;
    const present = queries.get(rnc);
    if (present !== undefined) return present;
    if (queries.size >= MAX_QUERIES) throw overloaded();
    const query = queryGateway(ports.source, rnc, known).finally(() => queries.delete(rnc));
    queries.set(rnc, query);
    return query;
  }

  async function queryGateway(
    source: TaxpayerSource,
    rnc: string,
    known: TaxpayerState | null,
  ): Promise<TaxpayerState | null> {
    const { taxpayers, observer } = ports;
    try {
      const fresh = await source.taxpayer(rnc);
      if (fresh === null || !isActive(fresh)) noteNotServed(rnc);
      if (fresh !== null && (known === null || fresh.revision > known.revision)) await taxpayers.replaceTaxpayer(fresh);
      return fresh ?? known;
    } catch (error) {
      observer.failed('querying the gateway for a taxpayer', error);
      throw unavailable(error);
    }
  }

  function wasNotServed(rnc: string): boolean {
    const age = ports.clock().getTime() - (notServed.get(rnc) ?? Number.NEGATIVE_INFINITY);
    return age >= 0 && age < NOT_SERVED_MS;
  }

  function noteNotServed(rnc: string): void {
    notServed.set(rnc, ports.clock().getTime());
  }

  return { find, queries: () => queries.size };
}

export type Buyers = ReturnType<typeof createBuyers>;

/** No answer is better than the wrong one: after motive 4 a sender does not send the document again. */
function unavailable(cause: unknown): ReceptionError {
  const message = 'This receiver cannot look up the buyer at the moment; send the document again shortly.';
  return new ReceptionError('unavailable', message, 'unavailable', { cause });
}

function overloaded(): ReceptionError {
  const message = 'This receiver looks up too many buyers at the moment; send the document again shortly.';
  return new ReceptionError('overloaded', message, 'buyers.busy');
}

function isActive(taxpayer: TaxpayerState): boolean {
  return taxpayer.active && taxpayer.account_active;
}
