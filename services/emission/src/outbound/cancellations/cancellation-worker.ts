import type { ValidationItem } from '@ecf/contracts';
import { type SignedCancellation, signCancellation } from '../../core/cancellation/cancellation-document.js';
import { type CancellationRequest, readCancellationRequest } from '../../core/cancellation/request.js';
import { EmissionError, type EmissionErrorCode } from '../../core/errors.js';

/** The answer of a worker; an error loses its class between threads. */
export type WorkerAnswer<T> =
  | { readonly result: T }
  | {
      readonly refused: {
        readonly code: EmissionErrorCode;
        readonly message: string;
        readonly items: readonly ValidationItem[] | null;
      };
    };

export function read(body: Uint8Array): Promise<WorkerAnswer<CancellationRequest>> {
  return answer(async () => readCancellationRequest(body));
}

export function sign(order: Parameters<typeof signCancellation>): Promise<WorkerAnswer<SignedCancellation>> {
  return answer(() => signCancellation(...order));
}

async function answer<T>(work: () => Promise<T>): Promise<WorkerAnswer<T>> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof EmissionError)) throw error;
    const { code, message, items } = error;
    return { refused: { code, message, items } };
  }
}
