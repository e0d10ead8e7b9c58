import type { Environment } from '@ecf/domain';
import { LRUCache } from 'lru-cache';
import type { CallLimit } from '../answers/answer.js';
import type { AuthorityService } from '../endpoints.js';

/** A call, as far as the authority's limits concern it. */
export interface LimitedCall {
  readonly env: Environment;
  readonly service: AuthorityService | 'receiver';
  /** RNC of the taxpayer in whose name it is made; null if it is made for none. */
  readonly taxpayer: string | null;
}

/** The pause after an answer 429. */
interface CallPause {
  readonly limit: CallLimit;
  /** Milliseconds that are left of it. */
  readonly ms: number;
}

/** Who is limited by the authority (status 429), in this process only. */
export interface CallLimits {
  /** The pause that a call has to keep now; null if it may be made. */
  pauseOf(call: LimitedCall): CallPause | null;
  /** The authority answered 429 to the call and asked for a pause. */
  limited(call: LimitedCall, retryAfterMs: number): CallPause;
}

/** If a service limits this number of taxpayers within this time, it limits every caller. */
const TAXPAYERS = 3;
const WITHIN_MS = 60_000;
/** A pause that is forgotten costs another answer 429. */
const REMEMBERED = 20_000;

/**
 * An answer 429 pauses the calls of its taxpayer to the service. Only if several taxpayers get it within a short time, the
 * service is paused for all taxpayers of the environment. No pause is longer than `maxPauseMs`.
 *
 * @param elapsed milliseconds of a clock that never goes back
 */
export function createCallLimits(maxPauseMs: number, elapsed: () => number): CallLimits {
  const pausedUntil = new LRUCache<string, number>({ max: REMEMBERED });
  /** For each service, when each taxpayer was limited last. It has few entries: the service is paused at the third. */
  const recent = new Map<string, Map<string, number>>();

  const left = (key: string): number => (pausedUntil.get(key) ?? 0) - elapsed();

  function pause(key: string, retryAfterMs: number): number {
    const ms = Math.max(Math.min(retryAfterMs, maxPauseMs), left(key));
    pausedUntil.set(key, elapsed() + ms);
    return ms;
  }

  function areMany(service: string, taxpayer: string): boolean {
    const now = elapsed();
    const fresh = [...(recent.get(service) ?? [])].filter(([, at]) => now - at < WITHIN_MS);
    const taxpayers = new Map(fresh).set(taxpayer, now);
    recent.set(service, taxpayers);
    return taxpayers.size >= TAXPAYERS;
  }

  return {
    pauseOf(call) {
      const ofService = left(serviceKey(call));
      if (ofService > 0) return { limit: 'service', ms: ofService };
      const ofTaxpayer = left(taxpayerKey(call));
      return ofTaxpayer > 0 ? { limit: 'taxpayer', ms: ofTaxpayer } : null;
    },
    limited(call, retryAfterMs) {
      const service = serviceKey(call);
      const limitsAll = call.taxpayer !== null && areMany(service, call.taxpayer);
      if (limitsAll) recent.delete(service);
      return limitsAll
        ? { limit: 'service', ms: pause(service, retryAfterMs) }
        : { limit: 'taxpayer', ms: pause(taxpayerKey(call), retryAfterMs) };
    },
  };
}

function serviceKey({ env, service }: LimitedCall): string {
  return `${env}:${service}`;
}

function taxpayerKey(call: LimitedCall): string {
  return `${serviceKey(call)}:${call.taxpayer ?? ''}`;
}
