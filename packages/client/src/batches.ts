import { paginate, type RawClient, type RequestOptions, unwrap } from './listings.js';
import { sleep } from './retry.js';
import type { BatchDocument, BatchResult, InvoiceDocument } from './types.js';

/** What a batch takes at most. */
const MAX_DOCUMENTS = 10_000;
const MAX_BYTES = 100 * 1024 * 1024;
const SHORTEST_PAUSE = 0.25;
const LONGEST_PAUSE = 5;

export interface BatchOptions extends RequestOptions {
  /** Names these documents: batch `n` has the key `<idempotencyKey>-<n>`. See `GatewayClient.batches`. */
  idempotencyKey?: string | undefined;
  /** Documents of a batch, at least 1 and at most 10,000, which is the default. */
  batchSize?: number | undefined;
  /** Only checks the documents. */
  validate?: boolean | undefined;
  /** `refuse`: a warning refuses its document. */
  warnings?: 'refuse' | 'accept' | undefined;
  /** Signs and stores documents also while the authority is unreachable. */
  contingency?: boolean | undefined;
}

/** Documents for batches; each may state its own `reference`. */
export type Documents = AsyncIterable<InvoiceDocument | BatchDocument> | Iterable<InvoiceDocument | BatchDocument>;

/** The outcome of a document. `line` counts all documents from 1, over all batches. */
export type SubmittedLine = BatchResult & { batch_id: string };

/**
 * Submits documents in batches, one after the other; see `GatewayClient.batches`.
 *
 * @throws RangeError if `batchSize` is not an integer from 1
 */
export async function* submitBatches(
  raw: RawClient,
  documents: Documents,
  { idempotencyKey = crypto.randomUUID(), batchSize = MAX_DOCUMENTS, signal, ...options }: BatchOptions = {},
): AsyncGenerator<SubmittedLine, void, undefined> {
  if (!(Number.isInteger(batchSize) && batchSize >= 1))
    throw new RangeError(`batchSize is ${batchSize}; it must be an integer from 1.`);
  let before = 0;
  let number = 0;
  for await (const lines of split(documents, Math.min(batchSize, MAX_DOCUMENTS))) {
    number += 1;
    const { batch_id } = await unwrap(
      raw.POST('/batches', {
        params: {
          query: { validate: options.validate ? 'true' : undefined, warnings: options.warnings },
          header: {
            'idempotency-key': `${idempotencyKey}-${number}`,
            'x-contingency': options.contingency ? 'true' : undefined,
          },
        },
        headers: { 'content-type': 'application/x-ndjson' },
        body: [],
        bodySerializer: () => new Blob(lines),
        signal,
      }),
    );
    const path = { batch_id };
    for (let pause = SHORTEST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const batch = await unwrap(raw.GET('/batches/{batch_id}', { params: { path }, signal }));
      // A cancelled batch finishes the lines that have begun.
      if (batch.pending === 0 && batch.in_process === 0) break;
      await sleep(pause, signal);
    }
    for await (const result of paginate(
      raw,
      '/batches/{batch_id}/results',
      { path, query: { limit: 1_000 } },
      { signal },
    ))
      yield { ...result, line: before + result.line, batch_id };
    before += lines.length;
  }
}

/** Documents as lines of NDJSON, as many as a batch takes. A document that no batch takes is its own batch, which the gateway refuses. */
export async function* split(documents: AsyncIterable<unknown> | Iterable<unknown>, size: number) {
  const encoder = new TextEncoder();
  let lines: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const document of documents) {
    const line = encoder.encode(`${JSON.stringify(document)}\n`);
    if (lines.length === size || (lines.length > 0 && bytes + line.length > MAX_BYTES)) {
      yield lines;
      lines = [];
      bytes = 0;
    }
    lines.push(line);
    bytes += line.length;
  }
  if (lines.length > 0) yield lines;
}
