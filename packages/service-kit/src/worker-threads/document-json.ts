import { ApiError } from '../http/errors.js';
import type { WatchQueue } from '../telemetry/queues.js';
import { startBoundedWorkers, TaskTooCostly } from './bounded-workers.js';

/** A larger document takes longer than the event loop can be kept busy. */
const LARGEST_SMALL = 64 * 1024;
const LIMITS = { maxThreads: 1, timeoutMs: 30_000, maxWaiting: 16 };

export interface DocumentJsonOptions {
  /** The text in JSON of a document in XML. */
  readonly documentJson: (xml: Uint8Array) => string;
  /** The module whose default export is `documentJson`. */
  readonly worker: URL;
  readonly watchQueue: WatchQueue;
}

export interface DocumentJson {
  toJson(xml: Uint8Array): Promise<string>;
  close(): Promise<void>;
}

/** Turns documents into JSON: small ones in the event loop, large ones in a worker thread. */
export function createDocumentJson({ documentJson, worker, watchQueue }: DocumentJsonOptions): DocumentJson {
  const workers = startBoundedWorkers({ worker, ...LIMITS, queue: 'document_json', watchQueue });
  return {
    async toJson(xml) {
      if (xml.length <= LARGEST_SMALL) return documentJson(xml);
      return workers.run<string>(xml).catch((error: unknown) => {
        throw error instanceof TaskTooCostly ? tooCostly(error) : error;
      });
    },
    close: workers.close,
  };
}

function tooCostly(cause: TaskTooCostly): ApiError {
  const message = `The document takes too much ${cause.what} to be turned into JSON; read its XML instead.`;
  return new ApiError(400, 'document_too_costly', message, { cause });
}
