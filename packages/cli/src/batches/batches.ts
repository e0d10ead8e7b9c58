import { setTimeout as delay } from 'node:timers/promises';
import type { BatchBody, BatchResult } from '@ecf/contracts';
import { readDemo, reasonOf } from '../gateway-admin.js';
import { blocksOf, linesOf } from '../input/blocks.js';
import { UsageError } from '../usage-error.js';

/** The batches of an account at a gateway, in one environment. */
export interface Batches {
  /** Sends NDJSON; the same key and bytes give the first batch again. The id of the batch. */
  create(key: string, ndjson: Uint8Array): Promise<string>;
  read(id: string): Promise<BatchBody>;
  /** The results of all lines, in order. */
  results(id: string): AsyncIterable<BatchResult>;
}

/** Calls of a gateway that is away or busy are repeated for so long. */
const PATIENCE_MS = 15 * 60_000;
const LONGEST_PAUSE_MS = 30_000;
/** A whole batch may go up a slow line. */
const ANSWER_MS = 30 * 60_000;
const LONGEST_RESULT = 64 * 1024 * 1024;

/** The gateway of ECF_URL and ECF_API_KEY; `demo.json` of the data folder supplies what is not set. */
export function openBatches(dataDir: string | undefined, env: NodeJS.ProcessEnv, environment: string): Batches {
  const demo = env.ECF_URL && env.ECF_API_KEY ? {} : readDemo(dataDir ?? env.DATA_DIR ?? '.data');
  const url = env.ECF_URL || demo.base_url;
  const key = env.ECF_API_KEY || demo.api_key;
  if (!url || !key)
    throw new UsageError('say where the gateway is: set ECF_URL and ECF_API_KEY, or name its data folder.');
  if (!URL.canParse(url)) throw new UsageError(`ECF_URL is "${url}", which is no address.`);

  /** An answer that breaks off is asked for again, like a gateway that is away. */
  async function request<Answer>(
    path: string,
    read: (answer: Response) => Promise<Answer> | Answer,
    init: RequestInit = {},
  ): Promise<Answer> {
    const headers = { 'x-api-key': key as string, env: environment, ...init.headers };
    let pause = 1_000;
    for (const end = Date.now() + PATIENCE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      let asked = 0;
      try {
        const signal = AbortSignal.timeout(ANSWER_MS);
        const answer = await fetch(new URL(path, url), { redirect: 'error', signal, ...init, headers });
        if (answer.ok) return await read(answer);
        const passes = answer.headers.has('retry-after') || answer.status === 429 || answer.status >= 502;
        if (!passes || Date.now() > end) throw refusal(answer.status, await answer.text());
        asked = Number(answer.headers.get('retry-after') ?? 0) * 1_000;
      } catch (error) {
        if (error instanceof UsageError) throw error;
        if (Date.now() > end) throw unreachable(url as string, error);
      }
      await delay(Math.max(pause, Math.min(asked || 0, LONGEST_PAUSE_MS)));
    }
  }

  const json = async <Body>(answer: Response) => parsed(await answer.text()) as Body;

  return {
    async create(idempotencyKey, ndjson) {
      const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': idempotencyKey };
      const init = { method: 'POST', headers, body: new Uint8Array(ndjson) };
      return (await request('/batches', json<{ batch_id: string }>, init)).batch_id;
    },
    read: (id) => request(`/batches/${id}`, json<BatchBody>),
    async *results(id) {
      const headers = { accept: 'application/x-ndjson' };
      // An answer that breaks off is continued after its last line; one without any line is not asked for again.
      for (let after = 0, isWhole = false; !isWhole; ) {
        const from = after;
        const answer = await request(`/batches/${id}/results?after=${after}`, (whole) => whole, { headers });
        try {
          for await (const { bytes } of blocksOf(answer.body as AsyncIterable<Uint8Array>, LONGEST_RESULT))
            for (const line of linesOf(bytes ?? new Uint8Array())) {
              const result = parsed(Buffer.from(line).toString('utf8')) as BatchResult;
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

const AGAIN = 'Repeat the command: it goes on where it was, and sends nothing twice.';

function refusal(status: number, body: string): UsageError {
  return new UsageError(`the gateway answered ${status}: ${reasonOf(body)} ${AGAIN}`);
}

function unreachable(url: string, cause: unknown): UsageError {
  return new UsageError(`the gateway at ${url} cannot be reached. ${AGAIN}`, { cause });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError('the answer is no JSON, so ECF_URL names no gateway.', { cause });
  }
}
