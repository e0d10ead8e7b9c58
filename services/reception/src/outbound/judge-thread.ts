import { parentPort, workerData } from 'node:worker_threads';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { ReceptionError } from '../core/errors.js';
import { type Judgement, judgeDocument } from '../core/judge-document.js';
import { trustCheck } from '../core/trust.js';

/** What a thread is made with: trusted issuers as PEM, null for any. */
export interface ThreadData {
  readonly trustedIssuers: string | null;
  readonly maxBytes: number;
}

export interface ThreadQuestion {
  readonly bytes: Uint8Array;
  readonly now: Date;
}

/** A judgement, or the words of the refusal; errors lose their class between threads. */
export type ThreadAnswer =
  | { readonly judgement: Judgement }
  | { readonly refused: { readonly message: string; readonly kind: string } };

const { trustedIssuers, maxBytes } = workerData as ThreadData;
const trust = trustCheck(trustedIssuers === null ? null : readTrustedIssuers(trustedIssuers));

/** A thread judges one document after the other; what is no refusal ends it, and its owner makes another. */
parentPort?.on('message', ({ bytes, now }: ThreadQuestion) => {
  parentPort?.postMessage(answer(bytes, now));
});

// The first message, whatever it is, says that everything is loaded.
parentPort?.postMessage(null);

function answer(bytes: Uint8Array, now: Date): ThreadAnswer {
  try {
    return { judgement: judgeDocument(bytes, { now, trust, maxBytes }) };
  } catch (error) {
    if (error instanceof ReceptionError) return { refused: { message: error.message, kind: error.kind } };
    throw error;
  }
}
