import { retry } from '@ecf/kit';
import { QueryError } from '../errors.js';
import { issuedInvoice } from '../invoices/issued-invoice.js';
import type { InvoiceSource, OutcomeSource, OutcomeStore, Projection, ReceivedSource } from '../invoices/ports.js';
import { receivedRecord } from '../invoices/received-record.js';

const PAGE = 1_000;
const RETRY_MS = 5_000;

export interface RebuildState {
  /** The read models are being filled: lists and sums would be incomplete. */
  readonly building: boolean;
  /** The read models were completed once. */
  readonly filled: boolean;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly documents: number;
  /** Why the last try failed; the next one follows. */
  readonly failure: string | null;
}

/** The progress of a rebuild, which all instances share. A rebuild is named by its start. */
export interface RebuildStore {
  state(): Promise<RebuildState>;
  /** Begins to fill the read models, which it can empty first. Null while another instance fills them. */
  begin(options: { readonly empty: boolean }): Promise<Date | null>;
  /** Notes the documents so far, or why they could not be read. False if another rebuild has begun. */
  progress(startedAt: Date, progress: { documents?: number; failure?: string }): Promise<boolean>;
  /** Ends a rebuild, or lets another instance begin it anew. */
  end(startedAt: Date, how: 'complete' | 'left'): Promise<void>;
  /** The owners have no documents, so there are none to fill in. */
  nothingToFill(): Promise<void>;
}

/**
 * Rebuilds the read models: empties them, and fills them with the documents of their owners, page by page. Events that arrive
 * meanwhile are kept as always, because the highest revision of a document wins. Lists and sums are 503 until the end.
 */
export interface Rebuild {
  /** Begins a rebuild. Throws QueryError `conflict` while another is in progress. */
  start(): Promise<RebuildState>;
  state(): Promise<RebuildState>;
  /**
   * At the start of the service: continues a rebuild that ended with its instance. In a new installation, takes over the
   * documents from before. Retries until the owners answer.
   */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** What a rebuild reads from and writes to; `outcomeSource` is null if no service of the deployment has outcomes. */
export interface RebuildParts {
  readonly store: RebuildStore;
  readonly projection: Projection;
  readonly outcomes: OutcomeStore;
  readonly emission: Pick<InvoiceSource, 'pageOfInvoices'>;
  readonly reception: Pick<ReceivedSource, 'pageOfReceived'>;
  readonly outcomeSource: OutcomeSource | null;
  readonly failed: (what: string, error: unknown) => void;
  /** Milliseconds before a failed try is repeated; for tests. */
  readonly retryMs?: number;
}

export function createRebuild(parts: RebuildParts): Rebuild {
  const { store, projection, outcomes, emission, reception, outcomeSource, failed, retryMs = RETRY_MS } = parts;
  const stopping = new AbortController();
  const pauses = { firstMs: retryMs, longestMs: retryMs, signal: stopping.signal };
  let running: Promise<void> = Promise.resolve();

  async function fill(startedAt: Date): Promise<void> {
    let documents = 0;
    const counted = async (count: number) => {
      documents += count;
      if (stopping.signal.aborted || !(await store.progress(startedAt, { documents }))) throw new Error('ended');
    };
    await pages(
      (after) => emission.pageOfInvoices({ after, limit: PAGE }),
      async ({ invoices }) => {
        await projection.keepInvoices(invoices.map(issuedInvoice));
        await counted(invoices.length);
      },
    );
    await pages(
      (after) => reception.pageOfReceived({ after, limit: PAGE }),
      async ({ received }) => {
        await projection.keepReceived(received.map(receivedRecord));
        await counted(received.length);
      },
    );
    if (outcomeSource === null) return;
    await pages(
      (after) => outcomeSource.pageOfDeliveries({ after, limit: PAGE }),
      ({ deliveries }) => outcomes.keepDeliveries(deliveries),
    );
    await pages(
      (after) => outcomeSource.pageOfDecisions({ after, limit: PAGE }),
      ({ decisions }) => outcomes.keepDecisions(decisions.filter((decision) => decision.direction === 'received')),
    );
  }

  async function fillOrNote(startedAt: Date): Promise<void> {
    try {
      await fill(startedAt);
      await store.end(startedAt, 'complete');
    } catch (error) {
      if (stopping.signal.aborted) throw error;
      failed('rebuilding the read models', error);
      const failure = error instanceof Error ? error.message : String(error);
      const isPresent = await store.progress(startedAt, { failure }).catch(() => true);
      // Otherwise another rebuild has begun, and this one ends.
      if (isPresent) throw error;
    }
  }

  /** Fills the read models, from the first page again after a failure. */
  async function run(startedAt: Date): Promise<void> {
    try {
      await retry(() => fillOrNote(startedAt), pauses);
    } catch {
      // Stopped. Another instance may begin the rebuild anew.
      await store.end(startedAt, 'left').catch((error) => failed('leaving a rebuild', error));
    }
  }

  async function ownersAreEmpty(): Promise<boolean> {
    const first = { after: 0, limit: 1 };
    const issued = await emission.pageOfInvoices(first);
    const { received } = await reception.pageOfReceived(first);
    // A page before the last may be empty: the month of its documents is detached.
    return issued.invoices.length === 0 && issued.next === null && received.length === 0;
  }

  return {
    state: store.state,
    async start() {
      // Rejects while the owners do not answer, before the read models are emptied.
      await ownersAreEmpty();
      const startedAt = await store.begin({ empty: true });
      if (startedAt === null) throw new QueryError('conflict', 'A rebuild is in progress; wait for its end.');
      running = run(startedAt);
      return store.state();
    },
    async resume() {
      const isBusy = new Error('another instance fills the read models');
      const attempt = async () => {
        const { building, filled } = await store.state();
        if (filled && !building) return;
        if (!building && (await ownersAreEmpty())) return store.nothingToFill();
        // What the read models have is from events, or from the rebuild that ended with its instance.
        const startedAt = await store.begin({ empty: false });
        if (startedAt === null) throw isBusy;
        running = run(startedAt);
        await running;
      };
      const onFailure = (error: unknown) => {
        if (error !== isBusy) failed('filling the read models', error);
      };
      // Rejects only if the service stops.
      await retry(attempt, { ...pauses, onFailure }).catch(() => undefined);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Reads the next page while the present one is stored. */
async function pages<P extends { next: number | null }>(
  read: (after: number) => Promise<P>,
  take: (page: P) => Promise<void>,
): Promise<void> {
  for (let coming: Promise<P> | null = read(0); coming !== null; ) {
    const page: P = await coming;
    coming = page.next === null ? null : read(page.next);
    coming?.catch(() => undefined);
    await take(page);
  }
}
