import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import { LRUCache } from 'lru-cache';
import type { Observer } from '../ports.js';

const REMEMBERED = 10_000;
/** Milliseconds for which an answer counts, and pause after a failure. */
const KNOWN_MS = 60_000;
const FAILED_MS = 1_000;

export interface FindOwnersPorts {
  readonly taxpayers: Pick<TaxpayerReplica, 'replaceTaxpayer'>;
  /** Null if the deployment has no gateway to query. */
  readonly source: Pick<TaxpayerSource, 'taxpayer'> | null;
  readonly observer: Pick<Observer, 'failed'>;
}

/**
 * Queries the gateway for the owner of a taxpayer whose events arrived first. The gateway knows a taxpayer before any
 * event of it is published, so a taxpayer that it does not know has no owner. Without an answer the owner stays
 * unknown.
 */
export function createFindOwners({ taxpayers, source, observer }: FindOwnersPorts) {
  const queried = new LRUCache<string, 'queried' | 'no owner'>({ max: REMEMBERED, ttl: KNOWN_MS });

  return {
    /** The RNCs that have no owner. */
    withoutOwner: () => [...queried.entries()].filter(([, answer]) => answer === 'no owner').map(([rnc]) => rnc),
    /** False if there is no answer, or the gateway was queried shortly before. */
    async find(rnc: string): Promise<boolean> {
      if (source === null || queried.has(rnc)) return false;
      queried.set(rnc, 'queried');
      try {
        const found = await source.taxpayer(rnc);
        if (found === null) queried.set(rnc, 'no owner');
        else await taxpayers.replaceTaxpayer(found);
        return true;
      } catch (error) {
        queried.set(rnc, 'queried', { ttl: FAILED_MS });
        observer.failed('querying the gateway for the owner of an event', error);
        return false;
      }
    },
  };
}
