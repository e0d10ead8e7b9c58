import { workerData } from 'node:worker_threads';
import { answerJudgements, trustCheck } from '@ecf/public-door';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { judgeDocument } from '../core/documents/judge-document.js';
import { ReceptionError } from '../core/errors.js';

/** What a thread is made with: trusted issuers as PEM, null for any. */
export interface ThreadData {
  readonly trustedIssuers: string | null;
  readonly maxBytes: number;
}

const { trustedIssuers, maxBytes } = workerData as ThreadData;
const trust = trustCheck(trustedIssuers === null ? null : readTrustedIssuers(trustedIssuers));

answerJudgements(
  (bytes, now) => judgeDocument(bytes, { now, trust, maxBytes }),
  (error) => (error instanceof ReceptionError ? { message: error.message, kind: error.kind } : null),
);
