import type { BatchBody, BatchResult } from '@ecf/contracts';
import { parsedAnswer } from '../gateway-admin.js';
import { type CallOptions, json, openGateway } from '../gateway-calls.js';
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

const LONGEST_RESULT = 64 * 1024 * 1024;

const REMEDY = 'Repeat the command: it resumes where it stopped, and no document is sent twice.';

/** The batches of `ecf submit`; `strict` says whether a warning refuses its document. */
export function openBatches(
  dataDir: string | undefined,
  env: NodeJS.ProcessEnv,
  environment: string,
  { strict, ...options }: { readonly strict: boolean } & Pick<CallOptions, 'say' | 'now' | 'sleep'>,
): Batches {
  const { request, unreachable } = openGateway(dataDir, env, environment, {
    command: 'submit',
    remedy: REMEDY,
    ...options,
  });

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
          if (after === from) throw unreachable(error);
        }
      }
    },
  };
}
