import { workerResult } from '../issue/worker-result.js';
import { readCancellationRequest, signCancellation } from './cancellation-document.js';

export const read = (body: Uint8Array) => workerResult(() => readCancellationRequest(body));

export const sign = (order: Parameters<typeof signCancellation>) => workerResult(() => signCancellation(...order));
