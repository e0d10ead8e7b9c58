import { answer } from '../issue/worker-answer.js';
import { readCancellationRequest, signCancellation } from './cancellation-document.js';

export const read = (body: Uint8Array) => answer(() => readCancellationRequest(body));

export const sign = (order: Parameters<typeof signCancellation>) => answer(() => signCancellation(...order));
