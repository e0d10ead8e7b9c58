import type { Answer, AuthorityClient, DirectoryEntry, TokenProvider } from '@ecf/authority-client';
import type { SeedSigner } from '@ecf/authority-client/login';
import type { Environment } from '@ecf/domain';
import type { SigningCertificate } from '@ecf/xml-signing';
import { LRUCache } from 'lru-cache';
import { receivingHost } from '../deliveries/host-visit.js';
import {
  createReceiverLogins,
  ReceiverLoginError,
  type ReceiverLogins,
  type ReceiverLoginsParts,
  wordsOf,
} from './receiver-logins.js';

/** In whose name others are looked up and called. */
export interface Caller {
  readonly env: Environment;
  readonly account: string;
  readonly certificate: SigningCertificate | SeedSigner;
}

/** Which of a receiver's addresses is asked for. */
export type ReceiverAddress = 'receptionUrl' | 'approvalUrl';

/**
 * Other taxpayers' receivers: where they are, and how to be let in. One that cannot be reached for a login is looked up again
 * before the next try.
 */
export interface Receivers extends ReceiverLogins {
  /**
   * The directory's entry of an RNC; null where it has none. An entry without the address that is asked for is never an old
   * one. Throws where the directory cannot be asked. With `missSince`, that nobody receives documents there is believed where
   * it was asked then or later, a moment ago: of a crowd of documents one asks.
   */
  find(caller: Caller, rnc: string, address: ReceiverAddress, missSince?: Date | null): Promise<DirectoryEntry | null>;
  /**
   * Whether the directory, asked now, lists another address than the one that was called, or none. Who refuses what is not
   * for it any more is not who was meant. Throws where the directory cannot be asked.
   */
  moved(caller: Caller, called: DirectoryEntry, address: ReceiverAddress): Promise<boolean>;
  /** Until when it is believed that an RNC has no receiver, as the directory said a moment ago; null where it is not. */
  missedUntil(env: Environment, rnc: string): Date | null;
  /** The host that receives documents for an RNC, where it was looked up before. */
  knownHost(env: Environment, rnc: string): string | null;
  /** A receiver that could not be reached may have moved: its entry is looked up again before the next try. */
  doubt(caller: Caller, rnc: string): void;
}

export interface ReceiversParts extends ReceiverLoginsParts {
  readonly authority: Pick<AuthorityClient, 'findInDirectory'>;
  readonly tokens: TokenProvider;
  readonly clock: () => Date;
  /** How long an entry is believed. An RNC without entry, or without the address, is looked up every time. */
  readonly entryLifeMs: number;
}

const REMEMBERED = 10_000;
/** For documents that are new, and those that came within it; any other try that is due asks. */
const MISS_LIFE_MS = 10_000;

/** Over the authority's directory, one question for each RNC at a time. */
export function createReceivers(parts: ReceiversParts): Receivers {
  // Until when by what has elapsed; when the directory was asked is compared with what was written down elsewhere.
  const entries = new LRUCache<string, { entry: DirectoryEntry; until: number }>({ max: REMEMBERED });
  const misses = new LRUCache<string, { askedAt: Date; until: number }>({ max: REMEMBERED });
  const logins = createReceiverLogins(parts);

  async function lookUp(caller: Caller, rnc: string): Promise<DirectoryEntry | null> {
    let answer = await ask(caller, rnc);
    if (answer.outcome === 'unauthorized') answer = await ask(caller, rnc, true);
    if (answer.outcome === 'verdict') return answer.verdict;
    // CerteCF has no directory: there, the authority's own portal plays the other side.
    if (answer.outcome === 'refused' && answer.code === 'service_not_in_environment') return null;
    throw new Error(`the directory gave no answer: ${wordsOf(answer)}`);
  }

  async function ask(caller: Caller, rnc: string, afresh = false): Promise<Answer<DirectoryEntry | null>> {
    const first = await parts.tokens.get(caller);
    if (!afresh) return parts.authority.findInDirectory({ env: caller.env, token: first.token, rnc });
    await parts.tokens.invalidate({ ...caller, token: first.token });
    const { token } = await parts.tokens.get(caller);
    return parts.authority.findInDirectory({ env: caller.env, token, rnc });
  }

  /** Looks an RNC up now; what is found is believed for a while. */
  async function refreshed(caller: Caller, rnc: string): Promise<DirectoryEntry | null> {
    const name = `${caller.env}:${rnc}`;
    const [now, askedAt] = [parts.elapsed(), parts.clock()];
    const entry = await lookUp(caller, rnc);
    if (entry === null) entries.delete(name);
    else entries.set(name, { entry, until: now + parts.entryLifeMs });
    if (entry === null || entry.receptionUrl === null)
      misses.set(name, { askedAt, until: parts.elapsed() + MISS_LIFE_MS });
    else misses.delete(name);
    return entry;
  }

  function doubt(caller: Caller, rnc: string): void {
    const known = entries.get(`${caller.env}:${rnc}`);
    if (known !== undefined) known.until = Number.NEGATIVE_INFINITY;
  }

  return {
    async find(caller, rnc, address, missSince = null) {
      const name = `${caller.env}:${rnc}`;
      const known = entries.get(name);
      const now = parts.elapsed();
      const usable = known !== undefined && known.entry[address] !== null;
      if (usable && known.until > now) return known.entry;
      const miss = misses.get(name);
      if (missSince !== null && miss !== undefined && miss.until > now && miss.askedAt >= missSince) return null;
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
      const left = (misses.get(`${env}:${rnc}`)?.until ?? Number.NEGATIVE_INFINITY) - parts.elapsed();
      return left > 0 ? new Date(parts.clock().getTime() + left) : null;
    },
    knownHost(env, rnc) {
      const known = entries.get(`${env}:${rnc}`);
      return known === undefined ? null : receivingHost(known.entry);
    },
    async admitted(caller, entry, call) {
      try {
        return await logins.admitted(caller, entry, call);
      } catch (error) {
        if (error instanceof ReceiverLoginError && error.trouble === 'unreached') doubt(caller, entry.rnc);
        throw error;
      }
    },
    doubt,
  };
}
