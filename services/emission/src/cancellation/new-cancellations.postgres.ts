import { merged } from '@ecf/domain/number-set';
import type { BusEvent } from '@ecf/service-kit/bus';
import { appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import { retryWhileUnavailable } from '../retry-while-unavailable.postgres.js';
import { type Cancellation, type NewCancellation, rangesOf } from './cancellation.js';
import type { CancellationStore, Taken } from './cancellation-ports.js';
import { type CancellationRow, fromRow } from './cancellation-rows.postgres.js';
import { ADD, FIND, FIND_LOCAL, LOCK_CONTENT, SUBMIT } from './cancellation-sql.postgres.js';
import { blockNumbers, findTaken, NumbersTaken } from './cancelled-numbers.postgres.js';

export interface CancellationStoreOptions {
  readonly database: Database;
  /** The event that publishes a cancellation's present state. */
  readonly describe: (cancellation: Cancellation) => BusEvent;
  /** Milliseconds that a call waits for a database that cannot be reached. */
  readonly timeoutMs: number;
}

/** Commits new cancellations, and local ones that are to be sent. */
export function createNewCancellations({
  database,
  describe,
  timeoutMs,
}: CancellationStoreOptions): Pick<CancellationStore, 'add' | 'submit'> {
  async function find(id: number): Promise<Cancellation | null> {
    const { rows } = await retryWhileUnavailable(timeoutMs, () => database.query<CancellationRow>(FIND, [id]));
    return rows[0] === undefined ? null : fromRow(rows[0]);
  }

  return {
    async add(cancellation, bytes, lease) {
      const { outcome, tries } = await unlessTaken(database, timeoutMs, async (tx) => {
        const present = await findSameContent(tx, describe, cancellation, lease);
        return { added: present ?? (await insert(tx, describe, cancellation, bytes, lease)) };
      });
      if ('added' in outcome || tries === 1) return outcome;
      // The answer to the commit was lost, so this very cancellation may hold the numbers.
      for (const { by } of outcome.taken.cancelled) {
        const found = await find(by);
        if (found?.xml.sha256 === cancellation.xml.sha256 && isUnsent(found, cancellation.createdAt))
          return { added: found };
      }
      return outcome;
    },
    async submit(id, lease, now) {
      const { outcome, tries } = await unlessTaken(database, timeoutMs, async (tx) => {
        const added = await submitLocal(tx, describe, id, lease, now);
        return added === null ? null : { added };
      });
      if (outcome !== null || tries === 1) return outcome;
      // The answer to the commit was lost, and this very call submitted it.
      const found = await find(id);
      return found !== null && isUnsent(found, now) ? { added: found } : null;
    },
  };
}

/** Whether the cancellation is as the request of that time committed it: unsent and not claimed. */
function isUnsent({ state, sentAt, requestedAt }: Cancellation, at: Date): boolean {
  return state === 'sending' && sentAt === null && requestedAt?.getTime() === at.getTime();
}

type Describe = (cancellation: Cancellation) => BusEvent;

/** Runs a transaction, again while the database is unavailable. Rolled back where a number is taken. */
async function unlessTaken<T>(
  database: Database,
  timeoutMs: number,
  work: (tx: Transaction) => Promise<T>,
): Promise<{ outcome: T | { taken: Taken }; tries: number }> {
  let tries = 0;
  try {
    const outcome = await retryWhileUnavailable(timeoutMs, () => {
      tries += 1;
      return database.transaction(work);
    });
    return { outcome, tries };
  } catch (error) {
    if (error instanceof NumbersTaken) return { outcome: { taken: error.taken }, tries };
    throw error;
  }
}

/** Submits a local cancellation and blocks its numbers; null if it is no longer local. */
async function submitLocal(
  tx: Transaction,
  describe: Describe,
  id: number,
  lease: Date,
  now: Date,
): Promise<Cancellation | null> {
  const { rows } = await tx.query<CancellationRow>(SUBMIT, [id, lease, now]);
  if (rows[0] === undefined) return null;
  const submitted = fromRow(rows[0]);
  await appendToOutbox(tx, [describe(submitted)]);
  await blockNumbers(tx, submitted);
  return submitted;
}

/** The local cancellation of the same content, submitted if there is a lease. The lock keeps it the only one. */
async function findSameContent(
  tx: Transaction,
  describe: Describe,
  { env, issuerRnc, accountId, contentHash, createdAt, lines }: NewCancellation,
  lease: Date | null,
): Promise<Cancellation | null> {
  await tx.query(LOCK_CONTENT, [env, accountId, contentHash]);
  const [local] = (await tx.query<CancellationRow>(FIND_LOCAL, [env, accountId, contentHash])).rows;
  if (local !== undefined)
    return lease === null ? fromRow(local) : submitLocal(tx, describe, local.id, lease, createdAt);
  const taken = lease === null ? await findTaken(tx, { env, issuerRnc, ranges: merged(rangesOf(lines)) }) : null;
  if (taken !== null) throw new NumbersTaken(taken);
  return null;
}

async function insert(
  tx: Transaction,
  describe: Describe,
  cancellation: NewCancellation,
  bytes: Uint8Array,
  lease: Date | null,
): Promise<Cancellation> {
  const { rows } = await tx.query<CancellationRow>(ADD, [
    cancellation.env,
    cancellation.issuerRnc,
    cancellation.accountId,
    cancellation.contentHash,
    cancellation.version,
    cancellation.reason,
    cancellation.total,
    cancellation.generatedAt,
    cancellation.createdAt,
    cancellation.xml.path,
    cancellation.xml.sha256,
    JSON.stringify(cancellation.lines),
    lease === null ? 'local' : 'sending',
    lease,
    lease === null ? null : cancellation.createdAt,
    cancellation.createdBy ?? null,
  ]);
  const added = fromRow(rows[0] as CancellationRow);
  await addPendingDocuments(tx, [{ ...cancellation.xml, bytes }]);
  await appendToOutbox(tx, [describe(added)]);
  if (lease !== null) await blockNumbers(tx, added);
  return added;
}
