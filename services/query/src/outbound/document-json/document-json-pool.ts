import type { WatchQueue } from '@ecf/service-kit/telemetry';
import { compiledWorker, createDocumentJson, type DocumentJson } from '@ecf/service-kit/worker-threads';
import { documentJson } from '../../core/invoices/document-json.js';

/** Turns documents into JSON, by the worker of this service. */
export function openDocumentJson(watchQueue: WatchQueue): DocumentJson {
  const worker = compiledWorker(import.meta, 'document-json-worker');
  return createDocumentJson({ documentJson, worker, watchQueue });
}
