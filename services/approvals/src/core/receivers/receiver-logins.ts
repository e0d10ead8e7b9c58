import type { Answer, DirectoryEntry, IssuedToken, ReceiverClient, Seed, UnknownCause } from '@ecf/authority-client';
import { signSeed } from '@ecf/authority-client/login';
import { LRUCache } from 'lru-cache';
import { DeliveryLanes, type LaneOptions, type LaneSign } from '../deliveries/delivery-lanes.js';
import type { LaneName } from '../deliveries/delivery-ports.js';
import { originOf } from '../deliveries/host-visit.js';
import type { Caller } from './receivers.js';

/**
 * What a login without token says: `unreached`, no answer came; `failing`, the receiver is in trouble, for everybody;
 * `refused`, anything else, which may be about the one certificate that asked.
 */
export type LoginTrouble = 'unreached' | 'failing' | 'refused';

/** A receiver gave no token, or refused so often that it is not asked now. */
export class ReceiverLoginError extends Error {
  override readonly name = 'ReceiverLoginError';

  /** `pauseMs`: for so long it is no use to come again. */
  constructor(
    message: string,
    readonly trouble: LoginTrouble,
    readonly pauseMs: number,
  ) {
    super(message);
  }
}

/** When a receiver is left alone, and for how long. */
export type LeftAlone = Pick<LaneOptions, 'failuresToOpen' | 'firstPauseMs' | 'longestPauseMs'>;

export interface ReceiverLoginsParts {
  readonly receivers: Pick<ReceiverClient, 'receiverSeed' | 'receiverToken'>;
  /** Milliseconds since any moment; unlike a clock it is never set. */
  readonly elapsed: () => number;
  readonly leftAlone: LeftAlone;
}

/** Calls receivers in the name of taxpayers, who are let in or not, each for itself. */
export interface ReceiverLogins {
  /**
   * Calls with a token where the receiver offers authentication, without one where it does not; with a fresh one where that
   * of an earlier login is refused. Throws {@link ReceiverLoginError} where it gives none.
   */
  admitted<V>(
    caller: Caller,
    entry: DirectoryEntry,
    call: (token: string | undefined) => Promise<Answer<V>>,
  ): Promise<Answer<V>>;
}

const REMEMBERED = 10_000;
/** Assumed where a receiver's dates cannot be read. */
const TOKEN_LIFE_MS = 5 * 60_000;
const TOKEN_MARGIN_MS = 60_000;
const TOKEN_REFUSED = 'the receiver refuses the token that it gave';
const NO_DOOR = 'the receiver asks for a token, and the directory names no address that gives one';
const NO_ANSWER: readonly UnknownCause[] = ['connection', 'timeout'];

/**
 * Keeps tokens until shortly before they end. Whoever is refused several times in a row, at the login or with the token, is
 * refused again whatever it sends: it asks no more for a while, then once. That says nothing about others, nor about other
 * buyers behind the same door, unless several of them refuse it: from then on a refusal by one of these is one by all of them.
 */
export function createReceiverLogins(parts: ReceiverLoginsParts): ReceiverLogins {
  const { elapsed, leftAlone } = parts;
  const tokens = new LRUCache<string, { token: string; until: number }>({ max: REMEMBERED });
  const refusals = new LRUCache<string, string>({ max: REMEMBERED });
  const lanes = new DeliveryLanes({ ...leftAlone, places: 1, elapsed, onOpen: () => undefined });

  function kept(name: string): string | undefined {
    const known = tokens.get(name);
    return known !== undefined && known.until > elapsed() ? known.token : undefined;
  }

  async function logIn(caller: Caller, name: string, baseUrl: string): Promise<string> {
    const now = elapsed();
    const seed = verdictOf<Seed>(await parts.receivers.receiverSeed({ baseUrl }), 'seed');
    const signedSeed = await signSeed(seed, caller.certificate);
    const issued = verdictOf<IssuedToken>(await parts.receivers.receiverToken({ baseUrl, signedSeed }), 'token');
    const life = issued.lifetimeMs ?? TOKEN_LIFE_MS;
    const until = now + life - Math.min(TOKEN_MARGIN_MS, life / 2);
    tokens.set(name, { token: issued.token, until });
    return issued.token;
  }

  /** An answer counts whatever its status; the token behind a 401 is of no more use all the same. */
  function forgetRefused(name: string, token: string | undefined, { outcome, raw }: Answer<unknown>): void {
    const refused = outcome === 'unauthorized' || raw?.status === 401;
    // Another call may have brought a new one meanwhile.
    if (refused && tokens.get(name)?.token === token) tokens.delete(name);
  }

  return {
    async admitted<V>(caller: Caller, entry: DirectoryEntry, call: (token: string | undefined) => Promise<Answer<V>>) {
      const baseUrl = entry.authenticationUrl;
      const name = loginName(caller, entry);
      // One that refuses everybody's token closes nothing for the others behind the same door.
      const own: LaneName = `${name} of ${entry.rnc}`;
      const whom: LaneName = `${caller.env}:${entry.rnc}`;
      const restMs = Math.max(lanes.restMs(name, whom), lanes.restMs(own));
      if (restMs > 0) throw new ReceiverLoginError(refusals.get(name) ?? TOKEN_REFUSED, 'refused', restMs);
      let sign: LaneSign = 'unknown';
      let pauseMs = 0;
      lanes.begin(name);
      lanes.begin(own);
      try {
        const given = kept(name);
        let token = given ?? (baseUrl === null ? undefined : await logIn(caller, name, baseUrl));
        let answer = await call(token);
        forgetRefused(name, token, answer);
        if (answer.outcome === 'unauthorized' && given !== undefined && baseUrl !== null) {
          token = kept(name) ?? (await logIn(caller, name, baseUrl));
          answer = await call(token);
          forgetRefused(name, token, answer);
        }
        if (answer.outcome === 'verdict') sign = 'alive';
        if (answer.outcome === 'unauthorized') {
          sign = 'failing';
          refusals.set(name, baseUrl === null ? NO_DOOR : TOKEN_REFUSED);
        }
        return answer;
      } catch (error) {
        if (error instanceof ReceiverLoginError && error.trouble === 'refused') {
          refusals.set(name, error.message);
          [sign, pauseMs] = ['failing', error.pauseMs];
        }
        throw error;
      } finally {
        lanes.end(name, sign, 0, whom);
        lanes.end(own, sign, pauseMs);
      }
    },
  };
}

/**
 * Who is let in, and where. Whoever lists somebody else's door as its own and then refuses the token harms nobody there: the
 * hosts behind the door belong to the name.
 */
function loginName({ env, account, certificate }: Caller, entry: DirectoryEntry): LaneName {
  const hosts = [entry.receptionUrl, entry.approvalUrl].map((address) => address && originOf(address));
  return `${env}:${account}:${certificate.fingerprint}:${entry.authenticationUrl} for ${hosts.join(', ')}`;
}

function verdictOf<V>(answer: Answer<V>, what: string): V {
  if (answer.outcome === 'verdict') return answer.verdict;
  const message = `the receiver gave no ${what}: ${wordsOf(answer)}`;
  if (answer.outcome !== 'unknown') throw new ReceiverLoginError(message, 'refused', 0);
  throw new ReceiverLoginError(message, troubleOf(answer), answer.retryAfterMs ?? 0);
}

function troubleOf({ cause, raw }: Answer<unknown> & { outcome: 'unknown' }): LoginTrouble {
  if (NO_ANSWER.includes(cause)) return 'unreached';
  // Some speak of a passing trouble with this very certificate, with a status below 500.
  return cause === 'server_error' && (raw?.status ?? 500) >= 500 ? 'failing' : 'refused';
}

/** What an answer that is no verdict says. */
export function wordsOf(answer: Exclude<Answer<unknown>, { outcome: 'verdict' }>): string {
  if (answer.outcome === 'unknown') return answer.detail;
  return answer.outcome === 'refused' ? answer.reason : 'it refuses the login';
}
