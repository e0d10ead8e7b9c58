import type { TaxpayerState } from '@ecf/contracts';
import type { LogoSource, StoredLogo } from '@ecf/http';
import { LRUCache } from 'lru-cache';
import { QueryError } from '../errors.js';

/** The logo of a taxpayer; null without one. */
export type LogoOf = (taxpayer: Pick<TaxpayerState, 'rnc' | 'logo_sha256'>) => Promise<StoredLogo | null>;

/** Bytes of logos that are kept in memory. */
const KEPT_BYTES = 32 * 1024 * 1024;

/**
 * The logos of taxpayers. They are too large for events, so the state of a taxpayer names the SHA-256 of its logo, and the gateway
 * is queried for a logo that is not in memory. 503 if it does not answer: a form without the logo would be another document.
 */
export function createLogos(source: LogoSource | null): LogoOf {
  const kept = new LRUCache<string, StoredLogo>({ maxSize: KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes.length });
  return async ({ rnc, logo_sha256: sha256 }) => {
    if (sha256 === null || sha256 === undefined) return null;
    const name = `${rnc}:${sha256}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    try {
      if (source === null) throw new Error('GATEWAY_URL is not set');
      // One that was replaced meanwhile is the newer logo, and is not kept under the older name.
      const logo = await source.logo(rnc);
      if (logo?.sha256 === sha256) kept.set(name, logo);
      return logo;
    } catch (cause) {
      throw new QueryError('service_unavailable', `The logo of ${rnc} could not be read; repeat shortly.`, { cause });
    }
  };
}
