import { retry } from '@ecf/kit';
import { parsedAnswer, readDemo, refusalOf } from './gateway-admin.js';
import { UsageError } from './options.js';

/** How long a call is repeated whose answer has Retry-After or is cut off, in milliseconds. */
const PATIENCE_MS = 15 * 60_000;
/** Until the gateway has answered once, its address may be wrong. The longest attempt to connect takes `CONNECT_MS`. */
const FIRST_CONNECTION_MS = 30_000;
const CONNECT_MS = 10_000;
const LONGEST_PAUSE_MS = 30_000;
/** A whole batch may go up a slow line. */
const ANSWER_MS = 30 * 60_000;

/** How calls are made and repeated. */
export interface CallOptions {
  /** The command, for its messages. */
  readonly command: string;
  /** What the user does after an error: a sentence. */
  readonly remedy: string;
  /** Says that a call is repeated, and why. */
  readonly say: (text: string) => void;
  /** Once it is aborted, calls and pauses end. */
  readonly signal?: AbortSignal;
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** The gateway was reached and refuses the call. */
export class CallRefused extends UsageError {
  constructor(
    readonly status: number,
    /** The body as it came. */
    readonly body: string,
    /** What the gateway said, as a sentence. */
    readonly reason: string,
    remedy: string,
  ) {
    super(`${reason} ${remedy}`);
  }
}

/** Calls of a gateway's public interface with an API key, in one environment. */
export interface GatewayCalls {
  readonly url: string;
  /**
   * Repeats what carries Retry-After, and a call whose answer is cut off.
   *
   * @throws CallRefused if the gateway refuses; UsageError if it cannot be reached
   */
  request<Answer>(
    path: string,
    read: (answer: Response) => Promise<Answer> | Answer,
    init?: RequestInit,
  ): Promise<Answer>;
  /** The error of an answer that ends too early. */
  unreachable(cause: unknown): UsageError;
}

/** The gateway of ECF_URL and ECF_API_KEY; `demo.json` of the data folder supplies what is not set. */
export function openGateway(
  dataDir: string | undefined,
  env: NodeJS.ProcessEnv,
  environment: string,
  { command, remedy, say, signal, now = Date.now, sleep }: CallOptions,
): GatewayCalls {
  const demo = env.ECF_URL && env.ECF_API_KEY ? {} : readDemo(dataDir ?? env.DATA_DIR ?? '.data');
  const url = env.ECF_URL || demo.base_url;
  const key = env.ECF_API_KEY || demo.api_key;
  if (!url || !key)
    throw new UsageError('say where the gateway is: set ECF_URL and ECF_API_KEY, or name its data folder.');
  if (!URL.canParse(url)) throw new UsageError(`ECF_URL is "${url}", which is not an address.`);

  let hasAnswered = false;

  function unreachable(cause: unknown): UsageError {
    return new UsageError(`the gateway at ${url} cannot be reached. ${remedy}`, { cause });
  }

  /** @throws Repeatable if the call may be repeated */
  async function call<Answer>(
    path: string,
    read: (answer: Response) => Promise<Answer> | Answer,
    init: RequestInit,
  ): Promise<Answer> {
    const headers = { 'x-api-key': key as string, env: environment, ...init.headers };
    const timeout = AbortSignal.timeout(ANSWER_MS);
    try {
      const answer = await fetch(new URL(path, url), {
        redirect: 'manual',
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
        ...init,
        headers,
      });
      hasAnswered = true;
      if (answer.ok) return await read(answer);
      const seconds = answer.headers.get('retry-after');
      const text = await answer.text();
      const failure = new CallRefused(answer.status, text, refusalOf(answer, text), remedy);
      if (seconds === null) throw failure;
      throw new Repeatable(`the gateway answered ${answer.status}`, failure, Number(seconds) * 1_000 || 0);
    } catch (error) {
      if (error instanceof UsageError || error instanceof Repeatable) throw error;
      const why = hasAnswered ? 'the connection was cut off' : `the gateway at ${url} cannot be reached`;
      throw new Repeatable(why, unreachable(error), 0);
    }
  }

  return {
    url,
    unreachable,
    async request(path, read, init = {}) {
      const began = now();
      return retry(() => call(path, read, init), {
        firstMs: 1_000,
        longestMs: LONGEST_PAUSE_MS,
        ...(signal === undefined ? {} : { signal }),
        ...(sleep === undefined ? {} : { sleep }),
        onFailure(error, _, pauseMs) {
          if (!(error instanceof Repeatable)) throw error;
          const hasEnded = hasAnswered
            ? now() > began + PATIENCE_MS
            : now() + pauseMs + CONNECT_MS > began + FIRST_CONNECTION_MS;
          if (hasEnded) throw error.cause;
          const wait = Math.max(pauseMs, Math.min(error.retryAfterMs, LONGEST_PAUSE_MS));
          say(`ecf ${command}: ${error.message}; next try in ${Math.ceil(wait / 1_000)} s`);
          return wait;
        },
      });
    },
  };
}

/** Reads the JSON of an answer, which has the members that the command reads. */
export function json<Body>(...members: readonly (keyof Body & string)[]) {
  return async (answer: Response): Promise<Body> => {
    const body = parsedAnswer(await answer.text()) as Body | null;
    const absent = members.filter((member) => body?.[member] === undefined);
    if (body !== null && absent.length === 0) return body;
    throw new UsageError(
      `the gateway's answer has no ${absent.join(', ')}: its version differs from that of this command. Use the command of the gateway's version.`,
    );
  };
}

/** A call that may be repeated; its cause ends the command if it is not. */
class Repeatable extends Error {
  constructor(
    message: string,
    override readonly cause: UsageError,
    readonly retryAfterMs: number,
  ) {
    super(message);
  }
}
