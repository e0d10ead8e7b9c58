import { createDueWork, type DueWork } from '@ecf/service-kit/due-work';
import type { Ports } from '../ports.js';
import type { DueLine } from './batch.js';
import type { BatchStore, LineRate } from './batch-ports.js';
import type { ProcessLine } from './process-line.js';

type BackgroundPorts = Pick<Ports, 'clock' | 'observer' | 'settings'> & {
  readonly batches: BatchStore;
  readonly lineRate: LineRate;
};

export interface BatchBackgroundOptions {
  readonly idleMs: number;
  /** Lines in flight in this instance. */
  readonly concurrency: number;
}

/** Bytes of documents in flight after which no line is claimed: 64 of 10 MB take a gigabyte, and too long for a statement. */
const BYTES_IN_FLIGHT = 32 * 1024 * 1024;

/** Works on the lines of batches. The database shares them among the instances and the accounts. */
export function createLineBackground(
  { batches, lineRate, clock, observer, settings }: BackgroundPorts,
  processLine: ProcessLine,
  options: BatchBackgroundOptions,
): DueWork<DueLine> {
  const work: DueWork<DueLine> = createDueWork({
    ...options,
    store: {
      async claimDue(request) {
        const bytes = work.inFlight().reduce((left, { document }) => left - (document?.length ?? 0), BYTES_IN_FLIGHT);
        return bytes <= 0 ? [] : batches.claimDue({ ...request, bytes, except: lineRate.exhausted().accountIds });
      },
      renew: batches.renew,
      // The lines that wait for their account; others are looked for every `idleMs`.
      nextDue: async () => lineRate.exhausted().firstFree,
    },
    handle: processLine,
    onError: (error) => observer.failed('working on a batch', error),
    clock,
    leaseMs: settings.leaseMs,
  });
  return work;
}

const COUNT_LEASE_MS = 30_000;
const COUNT_EVERY_MS = 1_000;

/** Counts the lines of open batches until all are final. */
export function createCountBackground(
  { batches, clock, observer }: Omit<BackgroundPorts, 'lineRate'>,
  { idleMs }: Pick<BatchBackgroundOptions, 'idleMs'>,
): DueWork<number> {
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
