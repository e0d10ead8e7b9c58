import { MAX_NUMBERS_PER_QUERY } from '@ecf/contracts';
import { type Environment, isEncf, storedEnvironment } from '@ecf/domain';
import { LRUCache } from 'lru-cache';
import type { Ports, ReceivedSearch } from '../ports.js';
import { issuedInvoice } from './issued-invoice.js';
import { receivedRecord } from './received-record.js';

interface Issuer {
  readonly env: Environment;
  readonly issuerRnc: string;
}
type FreshnessPorts = Pick<
  Ports,
  'invoices' | 'runs' | 'projection' | 'invoiceSource' | 'receivedSource' | 'observer' | 'clock'
>;
type DocumentNumber = { readonly issuer_rnc: string; readonly encf: string; readonly run?: number };

const MAX_ISSUERS = 50_000;
/** Milliseconds for which an owner is not queried again after a failure: answers come from the read models alone then. */
const PAUSE_MS = 2_000;

/**
 * Brings the read models up to date before a query is answered. Events arrive a moment after the change that they describe.
 * So the service first queries the owner for changes that the read models may lack, and projects the answer like an event. A
 * caller finds every document that it submitted before its query, on every instance, in any state of the bus.
 *
 * Lists are answered from the read models alone while an owner does not answer. A query for one document fails then, because
 * a document that is unknown here may exist.
 */
export interface Freshness {
  /** Projects everything that an issuer changed before the call. */
  issuer(issuer: Issuer): Promise<void>;
  /**
   * Projects the documents of some issuers under a number, in the run, or in the present one (null). False if the owner did not
   * answer.
   */
  documents(env: Environment, issuerRncs: readonly string[], encf: string, run?: number | null): Promise<boolean>;
  /** Projects the documents received under a number. False if the owner did not answer. */
  received(search: ReceivedSearch): Promise<boolean>;
  /** Milliseconds by which answers about issued documents may be behind: 0, or the time since emission last answered. */
  lagMs(): number;
}

export function createFreshness(ports: FreshnessPorts): Freshness {
  /** The owner's position up to which the changes of each issuer are projected. */
  const cursors = new LRUCache<string, string>({ max: MAX_ISSUERS });
  const owners = createOwnerQueries(ports);

  async function projectRecentChanges({ env, issuerRnc }: Issuer, key: string): Promise<boolean> {
    const recent = await ports.invoiceSource.recentChanges({
      env,
      issuer_rnc: issuerRnc,
      cursor: cursors.get(key) ?? null,
    });
    if (recent.run > 1) await ports.runs.note([{ env, issuerRnc, run: recent.run }]);
    const missing = await missingOf(ports, { env, issuerRnc }, recent);
    await projectInvoices(ports, env, missing);
    cursors.set(key, recent.cursor);
    return missing.length > 0;
  }

  return {
    async issuer(issuer) {
      const key = `${issuer.env}:${issuer.issuerRnc}`;
      await owners.share(key, () => owners.query('invoices', () => projectRecentChanges(issuer, key)));
    },
    async documents(env, issuerRncs, encf, run = null) {
      // Emission issues nothing under a malformed number, though a provider may have sent one.
      if (!isEncf(encf)) return true;
      const numbers = issuerRncs.map((issuer_rnc) => ({ issuer_rnc, encf, ...(run === null ? {} : { run }) }));
      return owners.query('invoices', async () => (await projectInvoices(ports, env, numbers)) > 0);
    },
    received: (search) =>
      owners.share(`received:${JSON.stringify(search)}`, () =>
        owners.query('received', async () => (await projectReceived(ports, search)) > 0),
      ),
    lagMs: () => owners.silentMs('invoices'),
  };
}

/** The changed documents whose read model is older, or absent. */
async function missingOf(
  ports: Pick<Ports, 'invoices'>,
  { env, issuerRnc }: Issuer,
  { run, changes }: { readonly run: number; readonly changes: readonly { encf: string; revision: number }[] },
): Promise<DocumentNumber[]> {
  if (changes.length === 0) return [];
  const present = await ports.invoices.revisions(
    { env: storedEnvironment({ env, run }), issuerRnc },
    changes.map(({ encf }) => encf),
  );
  return changes
    .filter(({ encf, revision }) => (present.get(encf) ?? 0) < revision)
    .map(({ encf }) => ({ issuer_rnc: issuerRnc, encf, run }));
}

/** Queries emission for the present state of the numbers and projects it; returns how many documents it has. */
async function projectInvoices(
  ports: Pick<Ports, 'invoiceSource' | 'projection' | 'runs'>,
  env: Environment,
  numbers: readonly DocumentNumber[],
): Promise<number> {
  let found = 0;
  for (const page of pagesOf(numbers)) {
    const { invoices } = await ports.invoiceSource.findInvoices({ env, numbers: page });
    // A document of a later run says that the run began.
    await ports.runs.note(
      invoices.flatMap(({ issuer_rnc: issuerRnc, run = 1 }) => (run > 1 ? [{ env, issuerRnc, run }] : [])),
    );
    if (invoices.length > 0) await ports.projection.keepInvoices(invoices.map(issuedInvoice));
    found += invoices.length;
  }
  return found;
}

/** Queries reception for the documents received under a number and projects them; returns how many documents it has. */
async function projectReceived(
  ports: Pick<Ports, 'receivedSource' | 'projection'>,
  { env, buyerRncs, issuerRnc, encf }: ReceivedSearch,
): Promise<number> {
  let found = 0;
  for (const buyer_rncs of pagesOf(buyerRncs)) {
    const { received } = await ports.receivedSource.findReceived({ env, buyer_rncs, issuer_rnc: issuerRnc, encf });
    if (received.length > 0) await ports.projection.keepReceived(received.map(receivedRecord));
    found += received.length;
  }
  return found;
}

function* pagesOf<T>(items: readonly T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += MAX_NUMBERS_PER_QUERY) yield items.slice(at, at + MAX_NUMBERS_PER_QUERY);
}

interface OwnerQueries {
  /** Queries an owner unless it failed a moment ago. True if it answered; `query` says whether it found anything. */
  query(owner: 'invoices' | 'received', query: () => Promise<boolean>): Promise<boolean>;
  /**
   * Runs one query at a time for a key. Callers that come meanwhile share the next one, which begins after they came and so
   * sees everything that was committed before.
   */
  share(key: string, query: () => Promise<boolean>): Promise<boolean>;
  /** Milliseconds since the last answer of an owner whose last query failed, or since the start; else 0. */
  silentMs(owner: 'invoices' | 'received'): number;
}

/** Queries to the owners of documents, made before an answer is given. */
function createOwnerQueries({ observer, clock }: Pick<Ports, 'observer' | 'clock'>): OwnerQueries {
  const begun = clock().getTime();
  const pausedUntil = { invoices: 0, received: 0 };
  const answeredAt = { invoices: begun, received: begun };
  const running = new Map<string, { current: Promise<boolean>; next: Promise<boolean> | null }>();

  function share(key: string, query: () => Promise<boolean>): Promise<boolean> {
    const present = running.get(key);
    if (present !== undefined) {
      present.next ??= present.current.then(() => share(key, query));
      return present.next;
    }
    const current = query().finally(() => running.delete(key));
    running.set(key, { current, next: null });
    return current;
  }

  return {
    share,
    silentMs: (owner) => (pausedUntil[owner] === 0 ? 0 : Math.max(0, clock().getTime() - answeredAt[owner])),
    async query(owner, query) {
      const queriedAt = clock().getTime();
      const pauseMs = pausedUntil[owner] - queriedAt;
      // A longer pause was noted by a wrong clock.
      if (pauseMs > 0 && pauseMs <= PAUSE_MS) {
        observer.freshened('paused');
        return false;
      }
      try {
        const found = await query();
        answeredAt[owner] = Math.max(answeredAt[owner], queriedAt);
        pausedUntil[owner] = 0;
        observer.freshened(found ? 'found' : 'nothing');
        return true;
      } catch (error) {
        pausedUntil[owner] = clock().getTime() + PAUSE_MS;
        observer.freshened('failed');
        observer.failed(`querying the owner of ${owner} for recent changes`, error);
        return false;
      }
    },
  };
}
