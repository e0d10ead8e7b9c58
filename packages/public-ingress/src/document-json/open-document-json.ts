import { ApiError } from '@ecf/kit';
import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker, startBoundedWorkers, TaskTooCostly } from '@ecf/kit/worker-threads';
import documentJson from './document-json.js';

/** A larger document takes longer than the event loop can be kept busy. */
const LARGEST_SMALL = 64 * 1024;
const LIMITS = { maxThreads: 1, timeoutMs: 30_000, maxWaiting: 16 };

export interface DocumentJson {
  /** The text in JSON, as it is submitted, of a stored document. 400 `document_too_costly` if it takes too much time or memory. */
  toJson(xml: Uint8Array): Promise<string>;
  close(): Promise<void>;
}

/** Turns documents into JSON: small ones in the event loop, large ones in a worker thread. */
export function openDocumentJson(watchQueue: WatchQueue): DocumentJson {
  const worker = compiledWorker(import.meta, 'document-json');
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
