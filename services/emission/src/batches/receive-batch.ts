import { createHash } from 'node:crypto';
import { MAX_BATCH_DOCUMENTS } from '@ecf/contracts';
import { EmissionError } from '../errors.js';
import { keyRequired } from '../numbers/automatic-number.js';
import type { NewBatch, NewLine } from './batch.js';
import { type ReadLines, unreadLine } from './line-numbers.js';
import { type NumberedLine, orderLines } from './line-order.js';
import type { BatchStore, ReceivedBatch } from './ports.js';

/** The documents of a body, as bytes; null represents one that is larger than a document may be. */
export interface ReceivedBody {
  readonly documents: AsyncIterable<Buffer | null>;
  /** Frees the memory that was counted for the documents so far. */
  release(): void;
  /** SHA-256 of the bytes that were read. */
  sha256(): string;
}

export type ReceiveBatch = (batch: Omit<NewBatch, 'createdAt'>, body: ReceivedBody) => Promise<ReceivedBatch>;

/** Bytes and lines that share an insertion. */
const CHUNK = { lines: 500, bytes: 1024 * 1024 };

/**
 * `POST /batches`: stores every document durably before it answers. After an error, or if the caller disconnects, it keeps no document. The
 * same idempotency key with the same bytes finds the first batch.
 */
export function createReceiveBatch(
  {
    batches,
    readLine,
    clock,
  }: { readonly batches: BatchStore; readonly readLine: ReadLines; readonly clock: () => Date },
  onReceived: () => void,
): ReceiveBatch {
  async function store(batch: NewBatch, body: ReceivedBody): Promise<ReceivedBatch> {
    const id = await batches.begin(batch);
    try {
      const { numbered, contentHash } = await storeLines(batches, readLine, id, batch, body);
      const { validate } = batch;
      const received = { id, total: numbered.length, sha256: body.sha256(), contentHash, validate };
      const winner = await batches.receive(received, orderLines(numbered), clock());
      if (winner === null) {
        onReceived();
        return received;
      }
      await batches.discard(id);
      return sameContent(winner, received);
    } catch (error) {
      await batches.discard(id).catch(() => undefined);
      throw error;
    }
  }

  return async (batch, body) => {
    const { env, idempotencyKey, caller } = batch;
    const first =
      idempotencyKey === null ? null : await batches.findByKey({ env, accountId: caller.accountId }, idempotencyKey);
    if (first === null) return store({ ...batch, createdAt: clock() }, body);
    const content = createHash('sha256');
    for await (const document of body.documents) {
      content.update((await read(readLine, document)).contentHash);
      body.release();
    }
    const contentHash = content.digest('hex');
    return sameContent(first, { sha256: body.sha256(), contentHash, validate: batch.validate });
  };
}

async function storeLines(
  batches: BatchStore,
  readLine: ReadLines,
  id: number,
  { caller, idempotencyKey, validate }: NewBatch,
  { documents, release }: ReceivedBody,
): Promise<{ numbered: NumberedLine[]; contentHash: string }> {
  const { accountId } = caller;
  /** Documents that are only checked draw no number, so they need no key. */
  const needsKey = idempotencyKey === null && !validate;
  const content = createHash('sha256');
  const numbered: NumberedLine[] = [];
  let chunk: NewLine[] = [];
  let bytes = 0;
  let [json, open] = [0, 0];
  for await (const document of documents) {
    const line = numbered.length + 1;
    if (line > MAX_BATCH_DOCUMENTS)
      throw new EmissionError(
        'invalid_batch',
        `A batch has at most ${MAX_BATCH_DOCUMENTS} documents; send the others as another batch. This batch was not stored.`,
      );
    const { ownReference, isJson, isOpen, contentHash, ...numbers } = await read(readLine, document);
    content.update(contentHash);
    if (isJson) json += 1;
    if (isOpen) open += 1;
    if (line === FIRST_LINES && json === 0) throw notJson();
    numbered.push({ line, ...numbers });
    chunk.push({ line, document, encf: numbers.encf, issuerRnc: numbers.issuerRnc, ownReference });
    bytes += document?.length ?? 0;
    if (chunk.length < CHUNK.lines && bytes < CHUNK.bytes) continue;
    await batches.addLines(id, accountId, chunk);
    release();
    chunk = [];
    bytes = 0;
  }
  if (numbered.length === 0)
    throw new EmissionError(
      'invalid_batch',
      'The body has no document; send one {"ECF": …} per line, or a JSON array.',
    );
  if (open === numbered.length && needsKey) throw keyRequired('no document of the batch has an eNCF');
  if (chunk.length > 0) await batches.addLines(id, accountId, chunk);
  return { numbered, contentHash: content.digest('hex') };
}

/** Lines at the beginning that are read for this check: if none is JSON, the body is usually one document over several lines. */
const FIRST_LINES = 10;

function notJson(): EmissionError {
  return new EmissionError(
    'invalid_batch',
    `None of the first ${FIRST_LINES} lines is JSON. Each document must be on one line: remove the line breaks inside it, or send a JSON array as application/json. The batch was not stored.`,
  );
}

async function read(readLine: ReadLines, document: Buffer | null) {
  return document === null ? unreadLine(null) : readLine(document);
}

/** Batches are equal by their bytes or by the contents of their lines, and by whether they are only checked. */
function sameContent(first: ReceivedBatch, other: Omit<ReceivedBatch, 'id' | 'total'>): ReceivedBatch {
  const isSame = first.sha256 === other.sha256 || first.contentHash === other.contentHash;
  if (isSame && first.validate === other.validate) return first;
  throw new EmissionError(
    'idempotency_conflict',
    `Batch ${first.id}, stored with this idempotency-key, is safe; see GET /batches/${first.id}. This batch was not stored, because its documents, their order or validate differ. Use another key only for other sales.`,
  );
}
