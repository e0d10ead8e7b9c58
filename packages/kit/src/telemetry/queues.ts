import type { Metrics } from './metrics.js';

/** A queue in the memory of this process. */
export interface Queue {
  readonly queue: string;
  /** How much may wait or be in work; more is refused. Null = the code that adds work limits it. */
  readonly limit: number | null;
  readonly depth: () => number;
}

export type WatchQueue = (queue: Queue) => void;

/** Shows the depth of queues as metrics. */
export function createQueueWatch(metrics: Metrics, service: string): WatchQueue {
  const labels = ['service', 'queue'] as const;
  const depths = metrics.gauge({
    name: 'ecf_queue_depth',
    help: 'Work in a queue of the process: documents and files that wait for a thread (validation, large_validation, invoices, cancellations, certificate_files, document_json, logos), submissions in flight, tokens and buyers that wait for an answer of another part, queries that wait for a connection (database), bytes of request bodies (body_bytes)',
    labels: [...labels],
  });
  const limits = metrics.gauge({
    name: 'ecf_queue_limit',
    help: 'Capacity of a queue of the process; further work is answered with 503 overloaded',
    labels: [...labels],
  });
  return ({ queue, limit, depth }) => {
    if (limit !== null) limits.set({ service, queue }, limit);
    metrics.onRender(async () => depths.set({ service, queue }, depth()));
  };
}
