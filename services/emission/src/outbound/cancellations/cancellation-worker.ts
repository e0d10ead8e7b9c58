import { signCancellation } from '../../core/cancellation/cancellation-document.js';
import { readCancellationRequest } from '../../core/cancellation/request.js';
import { answer } from '../workers/worker-answer.js';

export const read = (body: Uint8Array) => answer(() => readCancellationRequest(body));

export const sign = (order: Parameters<typeof signCancellation>) => answer(() => signCancellation(...order));
