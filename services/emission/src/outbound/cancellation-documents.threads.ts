import { Worker } from 'node:worker_threads';
import { type SignedCancellation, signCancellation } from '../core/cancellation/cancellation-document.js';
import type { CancellationDocuments } from '../core/cancellation/cancellation-ports.js';
import { type CancellationRequest, readCancellationRequest } from '../core/cancellation/request.js';
import { EmissionError } from '../core/errors.js';
import { createAccountPlaces } from '../core/submit/account-places.js';
import { createAccountTurns } from '../core/submit/account-turns.js';
import type { ThreadAnswer, ThreadTask } from './cancellation-thread.js';

/** Below these a document takes some milliseconds, less than a thread needs to begin. */
const SMALL_BODY = 128 * 1024;
const FEW_RANGES = 1_000;
/** Megabytes of JavaScript memory of a thread; the largest document, a hundred thousand ranges, needs a third. */
const THREAD_MEGABYTES = 1_024;
/** Bodies of up to ten megabytes that wait in memory. */
const WAITING = { all: 16, perAccount: 4 };
/** The same with those that are arriving and the one that is read: none begins to arrive that would find no memory. */
const HELD = { all: 24, perAccount: 5 };

// Threads run compiled code, also where this file is read from its source.
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/outbound/cancellation-thread.js' : './cancellation-thread.js',
  import.meta.url,
);

/**
 * Reads and signs cancellations: small ones at once, large ones in a thread that is made for each, one at a time, for they
 * are rare and take a second. Accounts that wait for it take turns. The private key goes to the thread by reference, not as text.
 */
export function createCancellationDocuments(): CancellationDocuments {
  const turns = createAccountTurns(WAITING);
  const places = createAccountPlaces(HELD);
  return {
    admit: (accountId, bytes) => (bytes !== null && bytes < SMALL_BODY ? () => undefined : places.take(accountId)),
    read: async (accountId, body) =>
      body.length < SMALL_BODY
        ? readCancellationRequest(body)
        : turns.begin(accountId, () => run<CancellationRequest>({ read: body })),
    sign: async (accountId, ...order) => {
      const ranges = order[0].lines.reduce((sum, line) => sum + line.ranges.length / 2, 0);
      return ranges <= FEW_RANGES
        ? signCancellation(...order)
        : turns.goOn(accountId, () => run<SignedCancellation>({ sign: order }));
    },
  };
}

function run<T extends CancellationRequest | SignedCancellation>(task: ThreadTask): Promise<T> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(THREAD, {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEGABYTES },
    });
    worker.once('message', (answer: ThreadAnswer) => {
      if ('done' in answer) return resolve(answer.done as T);
      const { code, message, items } = answer.refused;
      reject(new EmissionError(code, message, items === null ? {} : { items }));
    });
    worker.once('error', (cause) => reject(lost(cause)));
    worker.once('exit', () => reject(lost()));
  });
}

function lost(cause?: unknown): EmissionError {
  return new EmissionError('service_unavailable', 'The cancellation could not be worked on; send it again shortly.', {
    cause,
  });
}
