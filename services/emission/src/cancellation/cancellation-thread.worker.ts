import { answer } from '../issue/worker-answer.js';
import { signCancellation } from './cancellation-document.js';
import { readCancellationRequest } from './request.js';

export const read = (body: Uint8Array) => answer(() => readCancellationRequest(body));

export const sign = (order: Parameters<typeof signCancellation>) => answer(() => signCancellation(...order));
