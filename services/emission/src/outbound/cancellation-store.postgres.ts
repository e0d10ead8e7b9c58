import { EMISSION_STATES, type Environment } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database, Queries, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import {
  type Cancellation,
  type CancellationAlarm,
  type CancellationLine,
  type CancellationState,
  type NewCancellation,
  rangesOf,
} from '../core/cancellation/cancellation.js';
import { blockedBy } from '../core/cancellation/cancellation-body.js';
import type { CancellationStore, Numbers, Taken } from '../core/cancellation/cancellation-ports.js';
import { merged, type NumberRange } from '../core/cancellation/number-set.js';
import { isUnsent } from '../core/cancellation/unconfirmed-cancellation.js';
import * as sql from './cancellation-sql.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';

export interface PostgresCancellationStoreOptions {
  readonly database: Database;
  /** The event that tells of a cancellation's present state. */
  readonly describe: (cancellation: Cancellation) => BusEvent;
  /** Milliseconds that a call waits for a database that cannot be reached. */
  readonly patienceMs: number;
}

interface Row {
  id: number;
  env: Environment;
  issuer_rnc: string;
  account_id: string;
  content_hash: string;
  version: string;
  reason: string | null;
  total: number;
  generated_at: Date;
  created_at: Date;
  xml_path: string;
  xml_sha256: string;
  lines: CancellationLine[];
  revision: number;
  state: CancellationState;
  asked_at: Date | null;
  sent_at: Date | null;
  response: string | null;
  refused: NumberRange[];
  lost_sends: number;
  failures: number;
  next_action_at: Date | null;
  alarm: CancellationAlarm | null;
  settled_at: Date | null;
  settled_note: string | null;
}

/** Numbers that an answer names at most. */
const NAMED_AT_MOST = 20;
/** So many are looked up one by one; what lies between them, however much, is not read. */
const FEW_RANGES = 500;
const RANGES_A_PIECE = 1_000;
/** States that leave their number free. */
const FREE_STATES = Object.entries(EMISSION_STATES)
  .filter(([, { decided, sequenceUsed }]) => decided && sequenceUsed === false)
  .map(([state]) => state);

/** Thrown to roll back; never leaves this file. */
class NumbersTaken extends Error {
  constructor(readonly taken: Taken) {
    super('numbers are taken');
  }
}

/** Cancellations in PostgreSQL. */
export function createPostgresCancellationStore(options: PostgresCancellationStoreOptions): CancellationStore {
  const { database, describe, patienceMs } = options;
  const patient = <T>(call: () => Promise<T>) => retryWhileUnavailable(patienceMs, call);

  async function rows(statement: { name: string; text: string }, params: readonly unknown[]): Promise<Cancellation[]> {
    return (await patient(() => database.query<Row>(statement, params))).rows.map(fromRow);
  }

  /** Under the lock on the issuer's numbers: looked at afresh, then blocked. */
  async function block(tx: Transaction, cancellation: Cancellation): Promise<void> {
    const { env, issuerRnc, id } = cancellation;
    const ranges = merged(rangesOf(cancellation.lines));
    await tx.query(sql.LOCK_NUMBERS, [env, issuerRnc]);
    const taken = await lookUp(tx, { env, issuerRnc, ranges });
    if (taken !== null) throw new NumbersTaken(taken);
    await tx.query(sql.BLOCK, [env, issuerRnc, ...columns(ranges), id]);
  }

  /** A local one is to be sent from now on, with its numbers blocked; null where it is local no more. */
  async function send(tx: Transaction, id: number, lease: Date, now: Date): Promise<Cancellation | null> {
    const { rows: updated } = await tx.query<Row>(sql.SUBMIT, [id, lease, now]);
    if (updated[0] === undefined) return null;
    const added = fromRow(updated[0]);
    await appendToOutbox(tx, [describe(added)]);
    await block(tx, added);
    return added;
  }

  /** The local one of that content, to be sent where there is a lease; keeps it the only one until the commit. */
  async function sameContent(
    tx: Transaction,
    { env, issuerRnc, accountId, contentHash, createdAt, lines }: NewCancellation,
    lease: Date | null,
  ): Promise<Cancellation | null> {
    await tx.query(sql.LOCK_CONTENT, [env, accountId, contentHash]);
    const [local] = (await tx.query<Row>(sql.FIND_LOCAL, [env, accountId, contentHash])).rows;
    if (local !== undefined) return lease === null ? fromRow(local) : send(tx, local.id, lease, createdAt);
    const taken = lease === null ? await lookUp(tx, { env, issuerRnc, ranges: merged(rangesOf(lines)) }) : null;
    if (taken !== null) throw new NumbersTaken(taken);
    return null;
  }

  async function unlessTaken<T>(work: () => Promise<T>): Promise<T | { taken: Taken }> {
    try {
      return await patient(work);
    } catch (error) {
      if (error instanceof NumbersTaken) return { taken: error.taken };
      throw error;
    }
  }

  return {
    taken: (numbers) => patient(() => lookUp(database, numbers)),
    async add(cancellation, bytes, lease) {
      let tries = 0;
      const outcome = await unlessTaken(() => {
        tries += 1;
        return database.transaction(async (tx) => {
          const present = await sameContent(tx, cancellation, lease);
          if (present !== null) return { added: present };
          const { rows: inserted } = await tx.query<Row>(sql.ADD, [
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
          ]);
          const added = fromRow(inserted[0] as Row);
          await addPendingDocuments(tx, [{ ...cancellation.xml, bytes }]);
          await appendToOutbox(tx, [describe(added)]);
          if (lease !== null) await block(tx, added);
          return { added };
        });
      });
      if ('added' in outcome || tries === 1) return outcome;
      // The answer to the commit was lost: what stands in the way may be this very cancellation.
      for (const { by } of outcome.taken.cancelled) {
        const [found] = await rows(sql.FIND, [by]);
        const asked = { contentHash: cancellation.contentHash, askedAt: cancellation.createdAt };
        if (found?.xml.sha256 === cancellation.xml.sha256 && isUnsent(found, asked)) return { added: found };
      }
      return outcome;
    },
    async submit(id, lease, now) {
      let tries = 0;
      const outcome = await unlessTaken(() => {
        tries += 1;
        return database.transaction(async (tx) => {
          const added = await send(tx, id, lease, now);
          return added === null ? null : { added };
        });
      });
      if (outcome !== null || tries === 1) return outcome;
      // The answer to the commit was lost, and it is this very call that sends it.
      const [found] = await rows(sql.FIND, [id]);
      return found !== undefined && isUnsent(found, { ...found, askedAt: now }) ? { added: found } : null;
    },
    findLocal: async ({ env, accountId, contentHash }) =>
      (await rows(sql.FIND_LOCAL, [env, accountId, contentHash]))[0] ?? null,
    find: async (id) => (await rows(sql.FIND, [id]))[0] ?? null,
    async *list({ env, issuerRnc, limit, offset }) {
      const found = await patient(() => database.query<{ id: number }>(sql.LIST, [env, issuerRnc, limit, offset]));
      for (const { id } of found.rows) yield* await rows(sql.FIND, [id]);
    },
    claimDue: ({ now, until, limit, inFlight }) =>
      database.transaction(async (tx) => {
        const claimed = (await tx.query<Row>(sql.CLAIM, [now, until, inFlight, limit])).rows.map(fromRow);
        // One that was `failed` may arrive from now on, so it is published as `submitted`.
        if (claimed.length > 0) await appendToOutbox(tx, claimed.map(describe));
        return claimed;
      }),
    record: (before, progress) =>
      patient(() =>
        database.transaction(async (tx) => {
          const { rows: recorded } = await tx.query<Row>(sql.RECORD, [
            before.id,
            before.revision,
            progress.state,
            progress.sentAt,
            progress.response,
            JSON.stringify(progress.refused),
            progress.lostSends,
            progress.failures,
            progress.nextActionAt,
            progress.alarm,
            progress.settled?.at ?? null,
            progress.settled?.note ?? null,
          ]);
          if (recorded[0] === undefined) return null;
          const after = fromRow(recorded[0]);
          if (after.state === 'rejected' || after.refused.length > 0) {
            await tx.query(sql.UNBLOCK, [after.id]);
            await tx.query(sql.BLOCK, [after.env, after.issuerRnc, ...columns(blockedBy(after)), after.id]);
          }
          await appendToOutbox(tx, [describe(after)]);
          return after;
        }),
      ),
    needingPerson: ({ env, issuerRnc, settled, after, limit }) =>
      rows(sql.NEEDING_PERSON, [env, issuerRnc, settled, after, limit]),
    async backlog() {
      const { rows: groups } = await database.query<{
        alarm: CancellationAlarm | null;
        count: number;
        undecided: number;
      }>(sql.BACKLOG);
      return {
        undecided: groups.reduce((sum, { undecided }) => sum + undecided, 0),
        alarms: groups.flatMap(({ alarm, count }) => (alarm === null ? [] : [{ kind: alarm, count }])),
      };
    },
  };
}

async function lookUp(queries: Queries, { env, issuerRnc, ranges }: Numbers): Promise<Taken | null> {
  const asked = [env, issuerRnc, ...columns(ranges)];
  const used = await queries.query<Taken['used'][number]>(sql.USED, [...asked, FREE_STATES, NAMED_AT_MOST]);
  const cancelled = await queries.query<Taken['cancelled'][number]>(sql.CANCELLED, [
    ...asked,
    ranges.length > FEW_RANGES ? RANGES_A_PIECE : 1,
    NAMED_AT_MOST,
  ]);
  if (used.rows.length === 0 && cancelled.rows.length === 0) return null;
  return { used: used.rows, cancelled: cancelled.rows };
}

/**
 * Types, first and last sequences, as literals of PostgreSQL: of a hundred thousand ranges the driver takes many times as
 * long to make them, for it quotes each, and blocks all others meanwhile. Digits need no quotes.
 */
function columns(ranges: readonly NumberRange[]): [string, string, string] {
  const literal = (of: (range: NumberRange) => string | number) => `{${ranges.map(of).join(',')}}`;
  return [literal(({ type }) => type), literal(({ from }) => from), literal(({ to }) => to)];
}

function fromRow(row: Row): Cancellation {
  return {
    id: row.id,
    env: row.env,
    issuerRnc: row.issuer_rnc,
    accountId: row.account_id,
    contentHash: row.content_hash,
    version: row.version,
    reason: row.reason,
    total: row.total,
    generatedAt: row.generated_at,
    createdAt: row.created_at,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    lines: row.lines,
    revision: row.revision,
    state: row.state,
    askedAt: row.asked_at,
    sentAt: row.sent_at,
    response: row.response,
    refused: row.refused,
    lostSends: row.lost_sends,
    failures: row.failures,
    nextActionAt: row.next_action_at,
    alarm: row.alarm,
    settled: row.settled_at === null ? null : { at: row.settled_at, note: row.settled_note ?? '' },
  };
}
