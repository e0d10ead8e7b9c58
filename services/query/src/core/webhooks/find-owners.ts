import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import { LRUCache } from 'lru-cache';
import type { Observer } from '../ports.js';

const REMEMBERED = 10_000;
/** Milliseconds for which an answer counts, and pause after a failure. */
const ASKED_MS = 60_000;
const FAILED_MS = 1_000;

export interface FindOwnersPorts {
  readonly taxpayers: Pick<TaxpayerReplica, 'replaceTaxpayer'>;
  /** Null if the deployment has no gateway to query. */
  readonly source: Pick<TaxpayerSource, 'taxpayer'> | null;
  readonly observer: Pick<Observer, 'failed'>;
}

/**
 * Finds out whose the taxpayers are whose events came before them. The gateway knows a taxpayer before there is any event of it, so
 * one that it does not know is nobody's. Without an answer it stays unknown.
 */
export function createFindOwners({ taxpayers, source, observer }: FindOwnersPorts) {
  const asked = new LRUCache<string, 'asked' | 'nobody'>({ max: REMEMBERED, ttl: ASKED_MS });

  return {
    nobodys: () => [...asked.entries()].filter(([, answer]) => answer === 'nobody').map(([rnc]) => rnc),
    /** False if there is no answer, or the gateway was asked shortly before. */
    async find(rnc: string): Promise<boolean> {
      if (source === null || asked.has(rnc)) return false;
      asked.set(rnc, 'asked');
      try {
        const found = await source.taxpayer(rnc);
        if (found === null) asked.set(rnc, 'nobody');
        else await taxpayers.replaceTaxpayer(found);
        return true;
      } catch (error) {
        asked.set(rnc, 'asked', { ttl: FAILED_MS });
        observer.failed('asking the gateway whose an event is', error);
        return false;
      }
    },
  };
}
