import type { AuthorityClient, DirectoryEntry, TokenProvider } from '@ecf/authority-client';
import { callWithToken } from '@ecf/authority-client/login';
import type { Environment } from '@ecf/domain';
import { LRUCache } from 'lru-cache';
import {
  answerText,
  type Caller,
  createEndpointLogins,
  EndpointLoginError,
  type EndpointLogins,
  type EndpointLoginsParts,
  originOf,
} from './endpoint-logins.js';

/** The address of a receiver that is wanted. */
export type EndpointAddress = 'receptionUrl' | 'approvalUrl';

/** Endpoints of other taxpayers: the directory and the logins. A receiver whose login cannot be reached is looked up again. */
export interface Endpoints extends EndpointLogins {
  /**
   * The directory's entry of an RNC; null if it has none. An entry without the wanted address is always looked up afresh.
   * With `missSince`, a look-up since then that found no receiver is believed, so that many documents cause one query. Throws
   * where the directory gives no answer.
   */
  find(caller: Caller, rnc: string, address: EndpointAddress, missSince?: Date | null): Promise<DirectoryEntry | null>;
  /**
   * Queries the directory now: whether it lists another address than the one that was called, or none. Throws if the
   * directory gives no answer.
   */
  moved(caller: Caller, called: DirectoryEntry, address: EndpointAddress): Promise<boolean>;
  /** The end of the time for which the last look-up, which found no receiver, is believed; null if no such look-up is. */
  missedUntil(env: Environment, rnc: string): Date | null;
  /** The host that receives documents for an RNC, if it was looked up before. */
  knownHost(env: Environment, rnc: string): string | null;
  /** A receiver that could not be reached may have moved: the next try looks it up again. */
  expire(caller: Caller, rnc: string): void;
}

export interface EndpointsParts extends EndpointLoginsParts {
  readonly authority: Pick<AuthorityClient, 'findInDirectory'>;
  readonly tokens: TokenProvider;
  readonly clock: () => Date;
  /** How long an entry is believed. An RNC without an entry or the address is looked up every time. */
  readonly entryLifeMs: number;
}

const REMEMBERED = 10_000;
/** Documents that come within it wait for the next look-up; every other due try queries the directory. */
const MISS_LIFE_MS = 10_000;

/** Looks receivers up in the authority's directory, and keeps what it finds for a while. */
export function createEndpoints(parts: EndpointsParts): Endpoints {
  const entries = new LRUCache<string, { entry: DirectoryEntry; until: number }>({ max: REMEMBERED });
  /** When the directory listed no receiver, by the clock of the database. */
  const misses = new LRUCache<string, Date>({ max: REMEMBERED, ttl: MISS_LIFE_MS, ttlResolution: 0 });
  const logins = createEndpointLogins(parts);

  async function lookUp(caller: Caller, rnc: string): Promise<DirectoryEntry | null> {
    const answer = await callWithToken(parts.tokens, caller, (token) =>
      parts.authority.findInDirectory({ env: caller.env, token, rnc }),
    );
    if (answer.outcome === 'verdict') return answer.verdict;
    // CerteCF has no directory: there, the authority's own portal plays the other side.
    if (answer.outcome === 'refused' && answer.code === 'service_not_in_environment') return null;
    throw new Error(`the directory gave no answer: ${answerText(answer)}`);
  }

  /** Looks an RNC up now and keeps the result. */
  async function refreshed(caller: Caller, rnc: string): Promise<DirectoryEntry | null> {
    const name = `${caller.env}:${rnc}`;
    const [now, queriedAt] = [performance.now(), parts.clock()];
    const entry = await lookUp(caller, rnc);
    if (entry === null) entries.delete(name);
    else entries.set(name, { entry, until: now + parts.entryLifeMs });
    if (entry === null || entry.receptionUrl === null) misses.set(name, queriedAt);
    else misses.delete(name);
    return entry;
  }

  function expire(caller: Caller, rnc: string): void {
    const known = entries.get(`${caller.env}:${rnc}`);
    if (known !== undefined) known.until = Number.NEGATIVE_INFINITY;
  }

  return {
    async find(caller, rnc, address, missSince = null) {
      const name = `${caller.env}:${rnc}`;
      const known = entries.get(name);
      const usable = known !== undefined && known.entry[address] !== null;
      if (usable && known.until > performance.now()) return known.entry;
      const missedAt = misses.get(name);
      if (missSince !== null && missedAt !== undefined && missedAt >= missSince) return null;
      return refreshed(caller, rnc).catch((error) => {
        // An entry that could not be refreshed is better than none.
        if (!usable) throw error;
        return known.entry;
      });
    },
    async moved(caller, called, address) {
      const entry = await refreshed(caller, called.rnc);
      return (entry?.[address] ?? null) !== called[address];
    },
    missedUntil(env, rnc) {
      const left = misses.getRemainingTTL(`${env}:${rnc}`);
      return left > 0 ? new Date(parts.clock().getTime() + left) : null;
    },
    knownHost(env, rnc) {
      const known = entries.get(`${env}:${rnc}`);
      return known === undefined ? null : receivingHost(known.entry);
    },
    async call(caller, entry, call) {
      try {
        return await logins.call(caller, entry, call);
      } catch (error) {
        if (error instanceof EndpointLoginError && error.trouble === 'unreached') expire(caller, entry.rnc);
        throw error;
      }
    },
    expire,
  };
}

/** The host (origin) that receives documents; null if the directory's address is not valid. */
export function receivingHost({ receptionUrl }: Pick<DirectoryEntry, 'receptionUrl'>): string | null {
  return receptionUrl === null ? null : originOf(receptionUrl);
}
