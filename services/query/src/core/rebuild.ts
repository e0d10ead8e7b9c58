import { QueryError } from './errors.js';
import { issuedInvoice } from './invoices/issued-invoice.js';
import { receivedRecord } from './invoices/received-record.js';
import type { NewGeneration, Ports, RebuildState } from './ports.js';

const PAGE = 1_000;
const FILL_AGAIN_MS = 5_000;

type RebuildPorts = Pick<
  Ports,
  | 'generations'
  | 'projection'
  | 'outcomes'
  | 'invoiceSource'
  | 'receivedSource'
  | 'outcomeSource'
  | 'observer'
  | 'sleep'
>;

/**
 * Rebuilds the read models from the documents of their owners, page by page, into a new generation. Meanwhile the present
 * generation answers, and every change goes to both. Then the new one replaces it. After a failure the present one stays.
 */
export interface Rebuild {
  /** Begins a rebuild and resolves after its start. Throws QueryError `conflict` while another is in progress. */
  start(): Promise<RebuildState>;
  state(): Promise<RebuildState>;
  /**
   * If no generation was ever completed, takes over the documents from before this service's first start; retries until the
   * owners answer. Resolves when there is nothing to do, or it is done.
   */
  fillOnce(): Promise<void>;
  /** Ends the rebuild of this instance, without effect. */
  stop(): Promise<void>;
}

export function createRebuild(ports: RebuildPorts): Rebuild {
  let running: Promise<void> = Promise.resolve();
  let stopping = false;

  async function run(generation: NewGeneration): Promise<void> {
    try {
      let documents = 0;
      const progress = async (count: number) => {
        if (stopping) throw new Error('the instance ends');
        documents += count;
        await generation.progress(documents);
      };
      await pages(
        (after) => ports.invoiceSource.pageOfInvoices({ after, limit: PAGE }),
        async ({ invoices }) => {
          await ports.projection.loadInvoices(invoices.map(issuedInvoice));
          await progress(invoices.length);
        },
      );
      await pages(
        (after) => ports.receivedSource.pageOfReceived({ after, limit: PAGE }),
        async ({ received }) => {
          await ports.projection.loadReceived(received.map(receivedRecord));
          await progress(received.length);
        },
      );
      await takeOutcomes(ports);
      await generation.takePlace();
    } catch (error) {
      ports.observer.failed('rebuilding the read models', error);
      await generation
        .giveUp(error instanceof Error ? error.message : String(error))
        .catch((again) => ports.observer.failed('giving up a rebuild', again));
    }
  }

  async function start(): Promise<NewGeneration | null> {
    const generation = await ports.generations.begin();
    if (generation !== null) running = run(generation);
    return generation;
  }

  async function ownersAreEmpty(): Promise<boolean> {
    const first = { after: 0, limit: 1 };
    const [issued, received] = [
      await ports.invoiceSource.pageOfInvoices(first),
      await ports.receivedSource.pageOfReceived(first),
    ];
    return issued.invoices.length === 0 && received.received.length === 0;
  }

  async function fill(): Promise<boolean> {
    if ((await ports.generations.state()).filled) return true;
    if (await ownersAreEmpty()) await ports.generations.nothingToFill();
    else if ((await start()) !== null) await running;
    return (await ports.generations.state()).filled;
  }

  return {
    async fillOnce() {
      while (!stopping) {
        try {
          if (await fill()) return;
        } catch (error) {
          ports.observer.failed('filling the read models', error);
        }
        await ports.sleep(FILL_AGAIN_MS);
      }
    },
    async start() {
      const generation = await start();
      if (generation === null) throw new QueryError('conflict', 'A rebuild is in progress; wait for its end.');
      return ports.generations.state();
    },
    async state() {
      const state = await ports.generations.state();
      if (!state.building) return state;
      await ports.generations.clearAbandoned();
      return ports.generations.state();
    },
    async stop() {
      stopping = true;
      await running;
    },
  };
}

/** Outcomes have no generations: the highest revision wins, so taking them again changes nothing. */
async function takeOutcomes({ outcomes, outcomeSource: source }: RebuildPorts): Promise<void> {
  if (source === null) return;
  await pages(
    (after) => source.pageOfDeliveries({ after, limit: PAGE }),
    ({ deliveries }) => outcomes.keepDeliveries(deliveries),
  );
  await pages(
    (after) => source.pageOfDecisions({ after, limit: PAGE }),
    ({ decisions }) => outcomes.keepDecisions(decisions.filter((decision) => decision.direction === 'received')),
  );
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
