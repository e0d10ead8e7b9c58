import { workerData } from 'node:worker_threads';
import { answerJudgements, trustCheck } from '@ecf/public-door';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { UnreadableApproval } from '../core/errors.js';
import { judgeApproval } from '../core/received/approval-judgement.js';

/** What a thread is made with: trusted issuers as PEM, null for any. */
export interface ThreadData {
  readonly trustedIssuers: string | null;
  readonly maxBytes: number;
}

const { trustedIssuers, maxBytes } = workerData as ThreadData;
const trust = trustCheck(trustedIssuers === null ? null : readTrustedIssuers(trustedIssuers));

answerJudgements(
  (bytes, now) => judgeApproval(bytes, { now, trust, maxBytes }),
  (error) => (error instanceof UnreadableApproval ? { message: error.message, kind: error.kind } : null),
);
