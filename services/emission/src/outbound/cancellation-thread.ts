import { parentPort, workerData } from 'node:worker_threads';
import type { ValidationItem } from '@ecf/contracts';
import { type SignedCancellation, signCancellation } from '../core/cancellation/cancellation-document.js';
import { type CancellationRequest, readCancellationRequest } from '../core/cancellation/request.js';
import { EmissionError, type EmissionErrorCode } from '../core/errors.js';

/** What a thread is made for. */
export type ThreadTask =
  | { readonly read: Uint8Array }
  | { readonly sign: Readonly<Parameters<typeof signCancellation>> };

/** What it answers; errors lose their class between threads. */
export type ThreadAnswer =
  | { readonly done: CancellationRequest | SignedCancellation }
  | {
      readonly refused: {
        readonly code: EmissionErrorCode;
        readonly message: string;
        readonly items: readonly ValidationItem[] | null;
      };
    };

async function answer(task: ThreadTask): Promise<ThreadAnswer> {
  try {
    return { done: 'read' in task ? readCancellationRequest(task.read) : await signCancellation(...task.sign) };
  } catch (error) {
    if (!(error instanceof EmissionError)) throw error;
    const { code, message, items } = error;
    return { refused: { code, message, items } };
  }
}

parentPort?.postMessage(await answer(workerData as ThreadTask));
