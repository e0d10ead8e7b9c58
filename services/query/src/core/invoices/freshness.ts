import { MAX_NUMBERS_ASKED } from '@ecf/contracts';
import { type Environment, isEncf } from '@ecf/domain';
import { LRUCache } from 'lru-cache';
import type { Ports, ReceivedSearch } from '../ports.js';
import { type InvoiceKey, issuedInvoice } from './issued-invoice.js';
import { receivedRecord } from './received-record.js';

type Issuer = Pick<InvoiceKey, 'env' | 'issuerRnc'>;
type FreshnessPorts = Pick<
  Ports,
  'invoices' | 'projection' | 'invoiceSource' | 'receivedSource' | 'observer' | 'clock'
>;

/** Milliseconds for which an owner that failed to answer is not asked again: answers come from the read models alone then. */
const PAUSE_MS = 2_000;
const MOST_ISSUERS = 50_000;

/**
 * Events arrive a moment after the change they tell of. Before a question is answered, the owner is asked what the read
 * models may lack, and that is taken over as if its event had come: so a caller finds what it submitted before its question,
 * on every instance, whatever the bus does meanwhile. An owner that does not answer is done without; who asks for one document
 * is told so, because one that is not known here may exist then.
 */
export interface Freshness {
  /** Everything that an issuer changed before the call. */
  issuer(issuer: Issuer): Promise<void>;
  /** The documents of some issuers under a number. False where the owner could not be asked, or its answer not be kept. */
  documents(env: Environment, issuerRncs: readonly string[], encf: string): Promise<boolean>;
  /** What was received under a number. False as above. */
  received(search: ReceivedSearch): Promise<boolean>;
}

export function createFreshness(ports: FreshnessPorts): Freshness {
  /** Up to where each issuer's changes are known; the owner's own mark. */
  const cursors = new LRUCache<string, string>({ max: MOST_ISSUERS });
  const turns = new Map<string, { running: Promise<boolean>; next: Promise<boolean> | null }>();
  const pausedUntil = { invoices: 0, received: 0 };

  /** One question at a time for an issuer, or what was received under a number; who comes meanwhile shares the next one, which begins after they came. */
  function inTurn(key: string, ask: () => Promise<boolean>): Promise<boolean> {
    const turn = turns.get(key);
    if (turn === undefined) {
      const running = ask().finally(() => turns.delete(key));
      turns.set(key, { running, next: null });
      return running;
    }
    turn.next ??= turn.running.then(() => inTurn(key, ask));
    return turn.next;
  }

  async function catchUp(issuer: Issuer): Promise<boolean> {
    const key = `${issuer.env}:${issuer.issuerRnc}`;
    return asking('invoices', async () => {
      const known = cursors.get(key) ?? null;
      const recent = await ports.invoiceSource.recentChanges({
        env: issuer.env,
        issuer_rnc: issuer.issuerRnc,
        cursor: known,
      });
      const missing = await missingOf(issuer, recent.changes);
      for (let at = 0; at < missing.length; at += MAX_NUMBERS_ASKED) {
        await takeOver(issuer.env, missing.slice(at, at + MAX_NUMBERS_ASKED));
      }
      cursors.set(key, recent.cursor);
      return missing.length > 0;
    });
  }

  async function missingOf(issuer: Issuer, changes: readonly { encf: string; revision: number }[]) {
    if (changes.length === 0) return [];
    const present = await ports.invoices.revisions(
      issuer,
      changes.map(({ encf }) => encf),
    );
    return changes
      .filter(({ encf, revision }) => (present.get(encf) ?? 0) < revision)
      .map(({ encf }) => ({ issuer_rnc: issuer.issuerRnc, encf }));
  }

  async function takeOver(env: Environment, numbers: { issuer_rnc: string; encf: string }[]): Promise<number> {
    const { invoices } = await ports.invoiceSource.findInvoices({ env, numbers });
    if (invoices.length > 0) await ports.projection.keepInvoices(invoices.map(issuedInvoice));
    return invoices.length;
  }

  async function takeOverReceived({ env, buyerRncs, issuerRnc, encf }: ReceivedSearch): Promise<boolean> {
    let found = 0;
    for (let at = 0; at < buyerRncs.length; at += MAX_NUMBERS_ASKED) {
      const buyer_rncs = buyerRncs.slice(at, at + MAX_NUMBERS_ASKED);
      const { received } = await ports.receivedSource.findReceived({ env, buyer_rncs, issuer_rnc: issuerRnc, encf });
      if (received.length > 0) await ports.projection.keepReceived(received.map(receivedRecord));
      found += received.length;
    }
    return found > 0;
  }

  /** Asks an owner; true where it answered. */
  async function asking(owner: keyof typeof pausedUntil, ask: () => Promise<boolean>): Promise<boolean> {
    if (ports.clock().getTime() < pausedUntil[owner]) {
      ports.observer.freshened('paused');
      return false;
    }
    try {
      ports.observer.freshened((await ask()) ? 'found' : 'nothing');
      return true;
    } catch (error) {
      pausedUntil[owner] = ports.clock().getTime() + PAUSE_MS;
      ports.observer.freshened('failed');
      ports.observer.failed(`asking the owner of ${owner} for recent changes`, error);
      return false;
    }
  }

  return {
    async issuer(issuer) {
      await inTurn(`${issuer.env}:${issuer.issuerRnc}`, () => catchUp(issuer));
    },
    async documents(env, issuerRncs, encf) {
      // Nothing is issued under what is no number, though it may have been received.
      if (!isEncf(encf)) return true;
      return asking('invoices', async () => {
        let found = 0;
        for (let at = 0; at < issuerRncs.length; at += MAX_NUMBERS_ASKED) {
          const some = issuerRncs.slice(at, at + MAX_NUMBERS_ASKED);
          found += await takeOver(
            env,
            some.map((issuer_rnc) => ({ issuer_rnc, encf })),
          );
        }
        return found > 0;
      });
    },
    received: (search) =>
      inTurn(`received:${JSON.stringify(search)}`, () => asking('received', () => takeOverReceived(search))),
  };
}
