import { createDueWork, type DueWork } from '@ecf/postgres/due-work';
import type { Observer } from '../attempt/ports.js';
import type { DueLine } from './batch.js';
import type { BatchStore, LineRate } from './ports.js';
import type { ProcessLine } from './process-line.js';

/** Part of the lines in flight while callers wait for their submissions. */
const BESIDE_SUBMISSIONS = 1 / 4;
/** A claim reads the documents, of up to 10 MB each, so it takes few lines. */
const LINES_PER_CLAIM = 16;
/** Bytes of documents in flight above which no line is claimed: 64 documents of 10 MB would take a gigabyte of memory. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Works on the lines of batches. The database shares them among the instances; accounts take turns. While callers wait for their
 * submissions, this instance keeps fewer lines in flight.
 */
export function createLineBackground({
  batches,
  processLine,
  lineRate,
  observer,
  hasSubmissions,
  ...options
}: {
  readonly batches: Pick<BatchStore, 'claimDue' | 'renew'>;
  readonly processLine: ProcessLine;
  readonly lineRate: Pick<LineRate, 'exhausted'>;
  readonly observer: Observer;
  /** Whether this instance works on a submission of a caller. */
  readonly hasSubmissions: () => boolean;
  readonly clock: () => Date;
  readonly leaseMs: number;
  readonly idleMs: number;
  /** Lines in flight in this instance. */
  readonly concurrency: number;
}): DueWork<DueLine> {
  /** The account whose line was claimed last: the next claim begins with the account after it. */
  let afterAccount = '';

  /** Lines that may be claimed now, beside the ones in flight. */
  function freeSlots(): number {
    const documents = work.inFlight().map(({ document }) => document?.length ?? 0);
    if (documents.reduce((sum, bytes) => sum + bytes, 0) > MAX_BYTES) return 0;
    return Math.ceil(options.concurrency * (hasSubmissions() ? BESIDE_SUBMISSIONS : 1)) - documents.length;
  }

  const work: DueWork<DueLine> = createDueWork({
    ...options,
    store: {
      async claimDue(request) {
        const limit = Math.min(request.limit, LINES_PER_CLAIM, freeSlots());
        if (limit <= 0) return [];
        const except = lineRate.exhausted().accountIds;
        const lines = await batches.claimDue({ ...request, limit, afterAccount, except });
        afterAccount = lines.at(-1)?.caller.accountId ?? afterAccount;
        return lines;
      },
      renew: batches.renew,
      // The lines that wait for their account; others are looked for every `idleMs`.
      nextDue: async () => lineRate.exhausted().firstFree,
    },
    handle: processLine,
    onError: (error) => observer.failed('working on a batch', error),
  });
  return work;
}

const COUNT_LEASE_MS = 30_000;
const COUNT_EVERY_MS = 1_000;

/** Counts the lines of open batches until all are final. */
export function createCountBackground({
  batches,
  clock,
  observer,
  idleMs,
}: {
  readonly batches: Pick<BatchStore, 'claimCounts' | 'count'>;
  readonly clock: () => Date;
  readonly observer: Observer;
  readonly idleMs: number;
}): DueWork<number> {
  return createDueWork<number>({
    store: { claimDue: batches.claimCounts },
    handle: (id) => batches.count(id, clock(), new Date(clock().getTime() + COUNT_EVERY_MS)),
    onError: (error) => observer.failed('counting a batch', error),
    clock,
    leaseMs: COUNT_LEASE_MS,
    idleMs,
    concurrency: 1,
  });
}
