import { createJudgeThreads, type JudgeThreadCounts, type Turns, trustCheck } from '@ecf/public-door';
import type { TrustedIssuers } from '@ecf/xml-signing';
import { judgeDocument } from '../core/documents/judge-document.js';
import { ReceptionError } from '../core/errors.js';
import type { Judges } from '../core/ports.js';
import type { ThreadData } from './judge-thread.js';

export interface JudgesOptions {
  readonly trustedIssuers: TrustedIssuers | null;
  readonly maxBytes: number;
  readonly threads: JudgeThreadCounts;
  readonly timeoutMs: number;
  /** Whose turn it is to be judged where documents arrive. */
  readonly turns?: Turns;
}

// Threads run compiled code, also where this file is read from its source.
const THREAD = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/outbound/judge-thread.js' : './judge-thread.js',
  import.meta.url,
);

/** Judges small e-CF at once and large ones in threads of their own. */
export function createJudges(options: JudgesOptions): Judges & { stop(): Promise<void> } {
  const { trustedIssuers, maxBytes, threads, timeoutMs } = options;
  const trust = trustCheck(trustedIssuers);
  const workerData: ThreadData = {
    trustedIssuers: trustedIssuers && [...trustedIssuers.values()].map(String).join('\n'),
    maxBytes,
  };
  return createJudgeThreads({
    thread: THREAD,
    workerData,
    judge: (bytes, now) => judgeDocument(bytes, { now, trust, maxBytes }),
    refuse: ({ message, kind }, cause) =>
      new ReceptionError('unreadable_document', message, kind, cause === undefined ? {} : { cause }),
    unavailable: ({ message, kind }, cause) =>
      new ReceptionError('unavailable', message, kind, cause === undefined ? {} : { cause }),
    threads,
    timeoutMs,
    ...(options.turns === undefined ? {} : { turns: options.turns }),
  });
}
