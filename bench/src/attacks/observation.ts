import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Neighbour } from './attack.js';

export interface ObserverData {
  readonly baseUrl: string;
  /** Of the account that works beside the attack. */
  readonly key: string;
  readonly issuer: string;
  /** Of its invoices, `DD-MM-YYYY`. */
  readonly date: string;
  readonly neighbour: Neighbour;
  /** Invoices of this account. */
  readonly documents: string[];
}

export interface Waits {
  /** Milliseconds of each call that was answered. */
  readonly waits: number[];
  /** Milliseconds of the call that has no answer yet. */
  readonly waiting: number | null;
  /** Count by status and code. */
  readonly answers: Readonly<Record<string, number>>;
}

export interface Observation {
  readonly health: Waits;
  readonly account: Waits;
}

/** Starts the observer in its thread. */
export function observe(data: ObserverData) {
  const worker = new Worker(new URL('./observer.js', import.meta.url), { workerData: data });
  worker.on('error', (error) => {
    throw error;
  });
  return {
    /** Forgets what it has seen. */
    begin: () => worker.postMessage('begin'),
    async read(): Promise<Observation> {
      const answer = once(worker, 'message');
      worker.postMessage('report');
      return ((await answer) as [Observation])[0];
    },
    end: () => worker.terminate(),
  };
}
