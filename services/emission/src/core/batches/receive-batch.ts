import { MAX_BATCH_DOCUMENTS } from '@ecf/contracts';
import { asSingle, leafText, parseJson } from '@ecf/ecf-xml';
import { EmissionError } from '../errors.js';
import type { Ports } from '../ports.js';
import { referredNumber } from '../submit/referenced-document.js';
import type { NewBatch, NewLine } from './batch.js';
import type { BatchStore, ReceivedBatch } from './batch-ports.js';
import { type NumberedLine, orderLines } from './line-order.js';

/** The documents of a body, as bytes; null stands for one that is larger than a document may be. */
export interface BatchBody {
  readonly documents: AsyncIterable<Buffer | null>;
  /** SHA-256 of the bytes that were read. */
  sha256(): string;
}

export type ReceiveBatch = (batch: Omit<NewBatch, 'createdAt'>, body: BatchBody) => Promise<ReceivedBatch>;

/** Bytes and lines that share an insertion. */
const CHUNK = { lines: 500, bytes: 1024 * 1024 };

/**
 * `POST /batches`: stores every document durably before it answers. An error, or a caller that leaves, keeps nothing. The
 * same idempotency key with the same bytes finds the first batch.
 */
export function createReceiveBatch(
  ports: Pick<Ports, 'clock'> & { readonly batches: BatchStore },
  onReceived: () => void,
): ReceiveBatch {
  const { batches, clock } = ports;

  async function store(batch: NewBatch, body: BatchBody): Promise<ReceivedBatch> {
    const id = await batches.begin(batch);
    try {
      const numbered = await storeLines(batches, id, batch.caller.accountId, body);
      const received = { id, total: numbered.length, sha256: body.sha256(), validate: batch.validate };
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
    for await (const _ of body.documents);
    return sameContent(first, { sha256: body.sha256(), validate: batch.validate });
  };
}

async function storeLines(
  batches: BatchStore,
  id: number,
  accountId: string,
  { documents }: BatchBody,
): Promise<NumberedLine[]> {
  const numbered: NumberedLine[] = [];
  let chunk: NewLine[] = [];
  let bytes = 0;
  for await (const document of documents) {
    const line = numbered.length + 1;
    if (line > MAX_BATCH_DOCUMENTS)
      throw new EmissionError(
        'invalid_batch',
        `A batch has at most ${MAX_BATCH_DOCUMENTS} documents; send the others as another batch. Nothing of this one is kept.`,
      );
    const numbers = document === null ? NO_NUMBERS : numbersOf(document);
    numbered.push({ line, ...numbers });
    chunk.push({ line, document, encf: numbers.encf, issuerRnc: numbers.issuerRnc });
    bytes += document?.length ?? 0;
    if (chunk.length < CHUNK.lines && bytes < CHUNK.bytes) continue;
    await batches.addLines(id, accountId, chunk);
    chunk = [];
    bytes = 0;
  }
  if (numbered.length === 0)
    throw new EmissionError('invalid_batch', 'The body has no document; send one {"ECF": …} a line, or a JSON array.');
  if (chunk.length > 0) await batches.addLines(id, accountId, chunk);
  return numbered;
}

/** Batches are equal by their bytes, and by whether they are only checked. */
function sameContent(first: ReceivedBatch, other: Pick<ReceivedBatch, 'sha256' | 'validate'>): ReceivedBatch {
  if (first.sha256 === other.sha256 && first.validate === other.validate) return first;
  throw new EmissionError(
    'idempotency_conflict',
    'Another batch came with this idempotency-key and other content; use a new key for new content.',
  );
}

const NO_NUMBERS = { encf: null, issuerRnc: null, refersTo: null };

/** The numbers of a document that may have any fault; the full check comes later. */
function numbersOf(document: Buffer): Omit<NumberedLine, 'line'> {
  let root: unknown;
  try {
    // The parser of the check: what it refuses early would stop this process for seconds.
    root = parseJson(document);
  } catch {
    return NO_NUMBERS;
  }
  const header = ['ECF', 'Encabezado'];
  const reference = ['ECF', 'InformacionReferencia'];
  return {
    encf: textAt(root, [...header, 'IdDoc', 'eNCF'], 13),
    issuerRnc: textAt(root, [...header, 'Emisor', 'RNCEmisor'], 11),
    refersTo: referredNumber({
      type: textAt(root, [...header, 'IdDoc', 'TipoeCF'], 2),
      total: textAt(root, [...header, 'Totales', 'MontoTotal'], 21),
      modified: textAt(root, [...reference, 'NCFModificado'], 19),
      isOfAnother: textAt(root, [...reference, 'RNCOtroContribuyente'], 11) !== null,
    }),
  };
}

/**
 * A text, or a number as text, read as the check of the document does; null if it is absent, longer than `most`, or no
 * number.
 */
function textAt(root: unknown, path: readonly string[], most: number): string | null {
  // A list of one stands for its value, as in the check of the document.
  let value = asSingle(root);
  for (const name of path) value = asSingle((value as Record<string, unknown> | null | undefined)?.[name]);
  const text = leafText(value)?.trim() ?? null;
  return text !== null && text.length <= most && /^[\w.-]+$/.test(text) ? text : null;
}
