import type { Answer, DirectoryEntry, IssuedToken, ReceiverClient, Seed, UnknownCause } from '@ecf/authority-client';
import { signSeed } from '@ecf/authority-client/login';
import type { Environment } from '@ecf/domain';
import type { RecordCertificateUse } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import { LRUCache } from 'lru-cache';
import { FIRST_RETRY_WITHIN_MS } from './retry-times.js';

/** The taxpayer in whose name the directory and receivers are called. */
export interface Caller {
  readonly env: Environment;
  readonly account: string;
  readonly rnc: string;
  readonly certificate: SigningCertificate;
}

/**
 * Why a login gave no token. `unreached`: no answer came. `failing`: the receiver has a fault that concerns all callers.
 * `circuit_open`: the call was not made. `refused`: anything else, which may concern this certificate alone.
 */
export type LoginTrouble = 'unreached' | 'failing' | 'circuit_open' | 'refused';

/** A receiver gave no token, or refused one so recently that no call is made now. */
export class EndpointLoginError extends Error {
  override readonly name = 'EndpointLoginError';

  /** `pauseMs`: milliseconds until another login makes sense. */
  constructor(
    message: string,
    readonly trouble: LoginTrouble,
    readonly pauseMs: number,
  ) {
    super(message);
  }
}

export interface EndpointLoginsParts {
  readonly receivers: Pick<ReceiverClient, 'receiverSeed' | 'receiverToken'>;
  readonly recordUse: RecordCertificateUse;
  /** Whether to log in at receivers that offer it. */
  readonly logsIn: boolean;
}

/** Calls receivers in the name of taxpayers, with a token where the receiver wants one. */
export interface EndpointLogins {
  /**
   * Calls with a token where the receiver offers authentication, otherwise without. A kept token that is refused is replaced
   * once. Throws {@link EndpointLoginError} if the receiver gives no token, or demands one while logins are turned off.
   */
  call<V>(
    caller: Caller,
    entry: DirectoryEntry,
    call: (token: string | undefined) => Promise<Answer<V>>,
  ): Promise<Answer<V>>;
}

const REMEMBERED = 10_000;
/** Assumed where a receiver's dates cannot be read. */
const TOKEN_LIFE_MS = 5 * 60_000;
const TOKEN_MARGIN_MS = 60_000;
/** Pause after a refused login, however many documents wait. */
const REFUSAL_PAUSE_MS = 10_000;
const TOKEN_REFUSED = 'the receiver refuses the token that it gave';
const LOGINS_OFF = 'the receiver demands a token, and RECEIVER_LOGINS=false turns logins at receivers off';
const NO_LOGIN_ADDRESS = 'the receiver requires a token, and the directory has no address that issues one';
const NO_ANSWER: readonly UnknownCause[] = ['connection', 'timeout'];

/**
 * Keeps tokens until shortly before they end, and refusals for a while. One login is in flight for each caller and receiver;
 * concurrent calls share its token.
 */
export function createEndpointLogins({ receivers, recordUse, logsIn }: EndpointLoginsParts): EndpointLogins {
  const tokens = new LRUCache<string, string>({ max: REMEMBERED, ttlResolution: 0 });
  /** The reason of each refusal, until the next login makes sense. */
  const refusals = new LRUCache<string, string>({ max: REMEMBERED, ttlResolution: 0 });
  const inFlight = new Map<string, Promise<string>>();

  function logIn(caller: Caller, name: string, baseUrl: string): Promise<string> {
    const login = inFlight.get(name) ?? startLogin(caller, name, baseUrl).finally(() => inFlight.delete(name));
    inFlight.set(name, login);
    return login;
  }

  async function startLogin(caller: Caller, name: string, baseUrl: string): Promise<string> {
    try {
      const seed = verdictOf<Seed>(await receivers.receiverSeed({ baseUrl }), 'seed');
      await recordUse({ ...caller, use: 'receiver_login', host: new URL(baseUrl).host });
      const signedSeed = await signSeed(seed, caller.certificate);
      const issued = verdictOf<IssuedToken>(await receivers.receiverToken({ baseUrl, signedSeed }), 'token');
      const life = issued.lifetimeMs ?? TOKEN_LIFE_MS;
      tokens.set(name, issued.token, { ttl: life - Math.min(TOKEN_MARGIN_MS, life / 2) });
      return issued.token;
    } catch (error) {
      if (error instanceof EndpointLoginError && error.trouble === 'refused')
        refuse(name, error.message, error.pauseMs);
      throw error;
    }
  }

  function refuse(name: string, message: string, requestedMs: number): void {
    refusals.set(name, message, { ttl: Math.min(Math.max(requestedMs, REFUSAL_PAUSE_MS), FIRST_RETRY_WITHIN_MS) });
  }

  function requireNoRefusal(name: string): void {
    const message = refusals.get(name);
    const pauseMs = refusals.getRemainingTTL(name);
    if (message !== undefined && pauseMs > 0) throw new EndpointLoginError(message, 'refused', pauseMs);
  }

  /** A valid acknowledgement counts with any status; after a 401 the token is dropped anyway. */
  function forgetRefused(name: string, token: string | undefined, { outcome, raw }: Answer<unknown>): void {
    const refused = outcome === 'unauthorized' || raw?.status === 401;
    // Another call may have brought a new token meanwhile.
    if (refused && tokens.get(name) === token) tokens.delete(name);
  }

  return {
    async call<V>(caller: Caller, entry: DirectoryEntry, call: (token: string | undefined) => Promise<Answer<V>>) {
      const baseUrl = logsIn ? entry.authenticationUrl : null;
      const name = loginName(caller, entry);
      // A buyer that refuses every token must not stop the others that share its login address.
      const buyerName = `${name} of ${entry.rnc}`;
      requireNoRefusal(name);
      requireNoRefusal(buyerName);
      const kept = tokens.get(name);
      const token = kept ?? (baseUrl === null ? undefined : await logIn(caller, name, baseUrl));
      let answer = await call(token);
      forgetRefused(name, token, answer);
      if (answer.outcome === 'unauthorized' && kept !== undefined && baseUrl !== null) {
        const renewed = tokens.get(name) ?? (await logIn(caller, name, baseUrl));
        answer = await call(renewed);
        forgetRefused(name, renewed, answer);
      }
      if (answer.outcome !== 'unauthorized') return answer;
      if (!logsIn) {
        refuse(buyerName, LOGINS_OFF, 0);
        throw new EndpointLoginError(LOGINS_OFF, 'refused', 0);
      }
      refuse(buyerName, baseUrl === null ? NO_LOGIN_ADDRESS : TOKEN_REFUSED, 0);
      return answer;
    },
  };
}

/**
 * A token belongs to a caller, a login address and the hosts of the directory entry. So an entry that lists another receiver's
 * login address gets its own token, and its refusals count only for itself.
 */
function loginName({ env, account, certificate }: Caller, entry: DirectoryEntry): string {
  const hosts = [entry.receptionUrl, entry.approvalUrl].map((address) => address && originOf(address));
  return `${env}:${account}:${certificate.fingerprint}:${entry.authenticationUrl} for ${hosts.join(', ')}`;
}

/** Scheme, name and port of an address; null if it is not valid. */
export function originOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).origin : null;
}

function verdictOf<V>(answer: Answer<V>, what: string): V {
  if (answer.outcome === 'verdict') return answer.verdict;
  const message = `the receiver gave no ${what}: ${answerText(answer)}`;
  if (answer.outcome !== 'unknown') throw new EndpointLoginError(message, 'refused', 0);
  throw new EndpointLoginError(message, troubleOf(answer), answer.retryAfterMs ?? 0);
}

function troubleOf({ cause, raw }: Answer<unknown> & { outcome: 'unknown' }): LoginTrouble {
  if (cause === 'circuit_open') return cause;
  if (NO_ANSWER.includes(cause)) return 'unreached';
  // Some receivers answer a status below 500 for a temporary fault with this certificate.
  return cause === 'server_error' && (raw?.status ?? 500) >= 500 ? 'failing' : 'refused';
}

/** The text of an answer that is not a verdict. */
export function answerText(answer: Exclude<Answer<unknown>, { outcome: 'verdict' }>): string {
  if (answer.outcome === 'unknown') return answer.detail;
  return answer.outcome === 'refused' ? answer.reason : 'it refuses the login';
}
