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

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'x-api-key': key as string, env: environment, ...init.headers };
    let pause = 1_000;
    for (const end = Date.now() + PATIENCE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const signal = AbortSignal.timeout(ANSWER_MS);
      const answer = await fetch(new URL(path, url), { redirect: 'error', signal, ...init, headers }).catch(
        (error: Error) => error,
      );
      if (!(answer instanceof Error) && answer.ok) return answer;
      const passes = answer instanceof Error || answer.status === 429 || answer.status >= 502;
      if (!passes || Date.now() > end) throw await refusal(url as string, answer);
      const asked = answer instanceof Error ? 0 : Number(answer.headers.get('retry-after') ?? 0) * 1_000;
      await delay(Math.max(pause, Math.min(asked || 0, LONGEST_PAUSE_MS)));
    }
  }

  return {
    async create(idempotencyKey, ndjson) {
      const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': idempotencyKey };
      const answer = await request('/batches', { method: 'POST', headers, body: new Uint8Array(ndjson) });
      return ((await answer.json()) as { batch_id: string }).batch_id;
    },
    async read(id) {
      return (await (await request(`/batches/${id}`)).json()) as BatchBody;
    },
    async *results(id) {
      const answer = await request(`/batches/${id}/results`, { headers: { accept: 'application/x-ndjson' } });
      if (answer.body === null) return;
      for await (const { bytes } of blocksOf(answer.body as AsyncIterable<Uint8Array>, LONGEST_RESULT))
        for (const line of linesOf(bytes ?? new Uint8Array())) yield JSON.parse(Buffer.from(line).toString('utf8'));
    },
  };
}

async function refusal(url: string, answer: Response | Error): Promise<UsageError> {
  const again = 'Repeat the command: it goes on where it was, and sends nothing twice.';
  if (answer instanceof Error)
    return new UsageError(`the gateway at ${url} cannot be reached. ${again}`, { cause: answer });
  return new UsageError(`the gateway answered ${answer.status}: ${reasonOf(await answer.text())} ${again}`);
}
