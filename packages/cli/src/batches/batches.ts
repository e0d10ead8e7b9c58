import { setTimeout as delay } from 'node:timers/promises';
import type { BatchBody, BatchResult } from '@ecf/contracts';
import { retry } from '@ecf/kit';
import { parsedAnswer, readDemo, refusalOf } from '../gateway-admin.js';
import { blocksOf, linesOf } from '../input/blocks.js';
import { UsageError } from '../options.js';

/** The batches of an account at a gateway, in one environment. */
export interface Batches {
  /** Sends NDJSON; the same key and bytes give the first batch again. The id of the batch. */
  create(key: string, ndjson: Uint8Array): Promise<string>;
  read(id: string): Promise<BatchBody>;
  /** The results of all lines, in order. */
  results(id: string): AsyncIterable<BatchResult>;
}

/** How long a call is repeated whose answer has Retry-After or is cut off, in milliseconds. */
const PATIENCE_MS = 15 * 60_000;
/** Until the gateway has answered once, its address may be wrong. The longest attempt to connect takes `CONNECT_MS`. */
const FIRST_CONNECTION_MS = 30_000;
const CONNECT_MS = 10_000;
const LONGEST_PAUSE_MS = 30_000;
/** A whole batch may go up a slow line. */
const ANSWER_MS = 30 * 60_000;
const LONGEST_RESULT = 64 * 1024 * 1024;

/** How calls are made and repeated. */
export interface CallOptions {
  /** Whether a warning refuses its document. */
  readonly strict: boolean;
  /** Says that a call is repeated, and why. */
  readonly say: (text: string) => void;
  readonly now?: () => number;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** The gateway of ECF_URL and ECF_API_KEY; `demo.json` of the data folder supplies what is not set. */
export function openBatches(
  dataDir: string | undefined,
  env: NodeJS.ProcessEnv,
  environment: string,
  { strict, say, now = Date.now, sleep = delay }: CallOptions,
): Batches {
  const demo = env.ECF_URL && env.ECF_API_KEY ? {} : readDemo(dataDir ?? env.DATA_DIR ?? '.data');
  const url = env.ECF_URL || demo.base_url;
  const key = env.ECF_API_KEY || demo.api_key;
  if (!url || !key)
    throw new UsageError('say where the gateway is: set ECF_URL and ECF_API_KEY, or name its data folder.');
  if (!URL.canParse(url)) throw new UsageError(`ECF_URL is "${url}", which is not an address.`);

  let hasAnswered = false;

  /** Repeats what carries Retry-After, and a call whose answer is cut off. Every other refusal ends the command. */
  async function request<Answer>(
    path: string,
    read: (answer: Response) => Promise<Answer> | Answer,
    init: RequestInit = {},
  ): Promise<Answer> {
    const began = now();
    return retry(() => call(path, read, init), {
      firstMs: 1_000,
      longestMs: LONGEST_PAUSE_MS,
      sleep,
      onFailure(error, _, pauseMs) {
        if (!(error instanceof Repeatable)) throw error;
        const hasEnded = hasAnswered
          ? now() > began + PATIENCE_MS
          : now() + pauseMs + CONNECT_MS > began + FIRST_CONNECTION_MS;
        if (hasEnded) throw error.cause;
        const wait = Math.max(pauseMs, Math.min(error.retryAfterMs, LONGEST_PAUSE_MS));
        say(`ecf submit: ${error.message}; next try in ${Math.ceil(wait / 1_000)} s`);
        return wait;
      },
    });
  }

  /** @throws Repeatable if the call may be repeated */
  async function call<Answer>(
    path: string,
    read: (answer: Response) => Promise<Answer> | Answer,
    init: RequestInit,
  ): Promise<Answer> {
    const headers = { 'x-api-key': key as string, env: environment, ...init.headers };
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const answer = await fetch(new URL(path, url), { redirect: 'manual', signal, ...init, headers });
      hasAnswered = true;
      if (answer.ok) return await read(answer);
      const seconds = answer.headers.get('retry-after');
      const failure = new UsageError(`${refusalOf(answer, await answer.text())} ${AGAIN}`);
      if (seconds === null) throw failure;
      throw new Repeatable(`the gateway answered ${answer.status}`, failure, Number(seconds) * 1_000 || 0);
    } catch (error) {
      if (error instanceof UsageError || error instanceof Repeatable) throw error;
      const why = hasAnswered ? 'the connection was cut off' : `the gateway at ${url} cannot be reached`;
      throw new Repeatable(why, unreachable(url as string, error), 0);
    }
  }

  /** The body, if it has the members that this command reads. */
  function json<Body>(...members: readonly (keyof Body & string)[]) {
    return async (answer: Response) => {
      const body = parsedAnswer(await answer.text()) as Body | null;
      const absent = members.filter((member) => body?.[member] === undefined);
      if (body !== null && absent.length === 0) return body;
      throw new UsageError(
        `the gateway's answer has no ${absent.join(', ')}: its version differs from that of this command. Use the command of the gateway's version.`,
      );
    };
  }

  return {
    async create(idempotencyKey, ndjson) {
      const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': idempotencyKey };
      const init = { method: 'POST', headers, body: new Uint8Array(ndjson) };
      const path = strict ? '/batches?warnings=refuse' : '/batches';
      return (await request(path, json<{ batch_id: string }>('batch_id'), init)).batch_id;
    },
    read: (id) =>
      request(`/batches/${id}`, json<BatchBody>('total', 'pending', 'in_process', 'accepted', 'conditional')),
    async *results(id) {
      const headers = { accept: 'application/x-ndjson' };
      // An answer that is cut off is continued after its last line; one without any line is not asked for again.
      for (let after = 0, isWhole = false; !isWhole; ) {
        const from = after;
        const answer = await request(`/batches/${id}/results?after=${after}`, (whole) => whole, { headers });
        try {
          for await (const { bytes } of blocksOf(answer.body as AsyncIterable<Uint8Array>, LONGEST_RESULT))
            for (const line of linesOf(bytes ?? new Uint8Array())) {
              const result = parsedAnswer(Buffer.from(line).toString('utf8')) as BatchResult;
              after = result.line;
              yield result;
            }
          isWhole = true;
        } catch (error) {
          if (error instanceof UsageError) throw error;
          if (after === from) throw unreachable(url as string, error);
        }
      }
    },
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

const AGAIN = 'Repeat the command: it resumes where it stopped, and no document is sent twice.';

function unreachable(url: string, cause: unknown): UsageError {
  return new UsageError(`the gateway at ${url} cannot be reached. ${AGAIN}`, { cause });
}
