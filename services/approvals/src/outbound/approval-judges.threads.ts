import {
  createJudgeThreads,
  type JudgeThreadCounts,
  type JudgeThreads,
  type Turns,
  trustCheck,
} from '@ecf/public-door';
import type { TrustedIssuers } from '@ecf/xml-signing';
import { ApprovalsError, UnreadableApproval } from '../core/errors.js';
import { type ApprovalJudgement, judgeApproval } from '../core/received/approval-judgement.js';
import type { ThreadData } from './approval-judge-thread.js';

export interface JudgesOptions {
  readonly trustedIssuers: TrustedIssuers | null;
  readonly maxBytes: number;
  readonly threads: JudgeThreadCounts;
  readonly timeoutMs: number;
  /** Whose turn it is to be judged where approvals arrive. */
  readonly turns: Turns;
}

// Threads run compiled code, also where this file is read from its source.
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/outbound/approval-judge-thread.js' : './approval-judge-thread.js',
  import.meta.url,
);

/** Judges approvals of the usual size at once and larger ones in threads of their own. */
export function createApprovalJudges(options: JudgesOptions): JudgeThreads<ApprovalJudgement> {
  const { trustedIssuers, maxBytes, threads, timeoutMs, turns } = options;
  const trust = trustCheck(trustedIssuers);
  const workerData: ThreadData = {
    trustedIssuers: trustedIssuers && [...trustedIssuers.values()].map(String).join('\n'),
    maxBytes,
  };
  return createJudgeThreads({
    thread: THREAD,
    workerData,
    judge: (bytes, now) => judgeApproval(bytes, { now, trust, maxBytes }),
    refuse: ({ message, kind }, cause) => new UnreadableApproval(kind, message, { cause }),
    unavailable: ({ message }, cause) => new ApprovalsError('service_unavailable', message, { cause }),
    threads,
    timeoutMs,
    turns,
  });
}
