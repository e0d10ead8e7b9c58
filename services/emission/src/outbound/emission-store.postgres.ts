import { MAX_EVENT_BYTES } from '@ecf/contracts';
import { EMISSION_STATES, type EmissionState } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { outboxBody } from '@ecf/service-kit/outbox';
import { createBatches, type Database, type Statement } from '@ecf/service-kit/postgres';
import { type AlarmKind, type Attempt, type DocumentKey, documentKey } from '../core/attempt/attempt.js';
import { tellsMore } from '../core/attempt/moves.js';
import type { EmissionStore, Found, RelatedNote } from '../core/ports.js';
import { CROWD } from '../core/submit/new-numbers.js';
import { type AttemptRow, beginningRow, fromRow, savingRow } from './emission-rows.js';
import * as sql from './emission-sql.js';
import { wholePast } from './past-submissions.postgres.js';
import { patiently } from './patience.js';

export interface PostgresEmissionStoreOptions {
  readonly database: Database;
  /** The event that tells of an attempt's present state. */
  readonly describe: (attempt: Attempt) => BusEvent;
  /** Milliseconds that a call waits for a database that cannot be reached. */
  readonly patienceMs: number;
  /** Documents that are being issued now; by default one. */
  readonly underWay?: () => number;
  /** Called each time that the database was not reached. */
  readonly onAway?: () => void;
}

interface Beginning {
  readonly attempt: Attempt;
  readonly row: ReturnType<typeof beginningRow>;
}

interface Saving {
  readonly emissionId: number;
  readonly row: ReturnType<typeof savingRow>;
}

/** One at a time: what comes while a statement is under way shares the next, whose plan alone costs more than several documents in it. */
const BATCH = { maxItems: 64, maxUnderWay: 1 };
/**
 * In a crowd shared statements save more than they delay: they begin so many times as far apart as one takes lately, no further
 * than the milliseconds, and as soon as that share of the crowd waits.
 */
const GATHERING = { times: 4, mostMs: 15, share: 1 / 4 };
const IDS_AT_ONCE = 100;

/**
 * Emissions in PostgreSQL. Every change is one statement, hence one transaction and one round trip, and calls that arrive
 * together share it.
 */
export function createPostgresEmissionStore(options: PostgresEmissionStoreOptions): EmissionStore {
  const { database, describe, patienceMs, underWay = () => 1, onAway } = options;
  const batch = {
    ...BATCH,
    gathering: {
      spacingMs: (takesMs: number) => (underWay() < CROWD ? 0 : Math.min(GATHERING.times * takesMs, GATHERING.mostMs)),
      enough: () => Math.ceil(underWay() * GATHERING.share),
    },
  };
  const ids = createIdBlocks(async () => {
    const { rows } = await query<{ first: number }>(sql.NEXT_IDS, []);
    return rows[0]?.first as number;
  });

  function patient<T>(work: () => Promise<T>): Promise<T> {
    return patiently(patienceMs, work, onAway);
  }

  function query<R>(statement: Statement, params: readonly unknown[]) {
    return patient(() => database.query<R>(statement, params));
  }

  const finds = createBatches<DocumentKey, Attempt | null>({
    ...batch,
    keyOf: (key) => key,
    async work(keys) {
      const { rows } = await query<AttemptRow & { position: number }>(sql.FIND, listsOf(keys));
      const found = new Map(rows.map((row) => [row.position - 1, fromRow(row)]));
      return keys.map((_, index) => found.get(index) ?? null);
    },
  });

  const looks = createBatches<DocumentKey, Found>({
    ...batch,
    keyOf: (key) => key,
    async work(keys) {
      const { rows } = await query<KnownRow>(sql.LOOK, listsOf(keys));
      const known = new Map(rows.map((row) => [row.position - 1, row]));
      return Promise.all(
        keys.map(async (key, index) => {
          const row = known.get(index);
          if (row === undefined) return NOTHING;
          return { attempt: row.issued ? await finds.run(key) : null, cancelledBy: row.cancelled_by };
        }),
      );
    },
  });

  function beginnings(statement: Statement) {
    return createBatches<Beginning, boolean>({
      ...batch,
      keyOf: ({ attempt }) => documentKey(attempt),
      async work(items) {
        // Run twice (the answer to the commit was lost), a number of ours is taken by ourselves.
        const again = new Set<number>();
        const body = parameter(items.map(({ row }) => row));
        let tries = 0;
        const { rows } = await patient(() => {
          tries += 1;
          return database.query<{ emission_id: number }>(statement, [body]);
        });
        const begun = new Set(rows.map(({ emission_id }) => emission_id));
        const missing = items.filter(({ attempt }) => !begun.has(attempt.emissionId));
        if (tries > 1) {
          for (const { attempt } of missing) if (await isStored(attempt)) again.add(attempt.emissionId);
        }
        signal(items.map(({ row }) => row));
        return items.map(({ attempt }) => begun.has(attempt.emissionId) || again.has(attempt.emissionId));
      },
    });
  }

  async function isStored(attempt: Attempt): Promise<boolean> {
    const stored = await finds.run(attempt);
    return (
      stored !== null &&
      stored.emissionId === attempt.emissionId &&
      stored.attempt === attempt.attempt &&
      stored.xml.sha256 === attempt.xml.sha256 &&
      stored.owner === attempt.owner
    );
  }

  function savings(statement: Statement) {
    return createBatches<Saving, boolean>({
      ...batch,
      keyOf: ({ emissionId }) => emissionId,
      async work(items) {
        const body = parameter(items.map(({ row }) => row));
        const { rows } = await query<{ emission_id: number }>(statement, [body]);
        const saved = new Set(rows.map(({ emission_id }) => emission_id));
        signal(items.map(({ row }) => row));
        return items.map(({ emissionId }) => saved.has(emissionId));
      },
    });
  }

  function signal(rows: readonly { outbox_partition: number | null }[]): void {
    const partitions = new Set<number>();
    for (const { outbox_partition } of rows) if (outbox_partition !== null) partitions.add(outbox_partition);
    if (partitions.size > 0) database.signalOutbox(partitions);
  }

  const first = beginnings(sql.BEGIN_FIRST);
  const next = beginnings(sql.BEGIN_NEXT);
  const open = savings(sql.SAVE);
  const decided = savings(sql.SAVE_DECIDED);

  return {
    nextId: () => ids(),
    look: (key) => looks.run(key),
    find: (key) => finds.run(key),
    begin(attempt, sealedCertificate) {
      const row = beginningRow(attempt, describe(attempt), sealedCertificate);
      return (attempt.attempt === 1 ? first : next).run({ attempt, row });
    },
    wholePast: (attempt) => patient(() => wholePast(database, attempt)),
    save(before, after, exchanges) {
      const row = savingRow(before, after, tellsMore(before, after) ? describe(after) : null, exchanges);
      const saves = EMISSION_STATES[after.state].decided ? decided : open;
      return saves.run({ emissionId: before.emissionId, row });
    },
    async claimDue({ now, until, owner, limit }) {
      const { rows } = await database.query<AttemptRow>(sql.CLAIM_DUE, [now, limit, owner, until]);
      return rows.map(fromRow);
    },
    askForAwaited: async (now) => (await database.query(sql.ASK_FOR_AWAITED, [now])).rowCount,
    async nextDue() {
      const { rows } = await database.query<{ next_action_at: Date | null }>(sql.NEXT_DUE);
      return rows[0]?.next_action_at ?? null;
    },
    async sealedCertificate({ emissionId, attempt }) {
      const { rows } = await query<{ sealed: Buffer }>(sql.SEALED, [emissionId, attempt]);
      return rows[0]?.sealed ?? null;
    },
    async eraseCertificate({ env, issuerRnc, encf }) {
      await query(sql.ERASE_CERTIFICATE, [env, issuerRnc, encf]);
    },
    async notesOn(key): Promise<RelatedNote[]> {
      const { rows } = await query<{ encf: string; ecf_type: string; state: EmissionState; total_amount: string }>(
        sql.NOTES_ON,
        [documentKey(key)],
      );
      return rows.map((row) => ({
        encf: row.encf,
        ecfType: row.ecf_type,
        state: row.state,
        totalAmount: row.total_amount,
      }));
    },
    async heartbeat(owner, until) {
      await database.query(sql.HEARTBEAT, [owner, until]);
    },
    async releaseDead(now) {
      const { rows } = await database.query<{ id: string }>(sql.REMOVE_DEAD, [now]);
      if (rows.length === 0) return 0;
      const { rowCount } = await database.query(sql.RELEASE_OWNED, [rows.map(({ id }) => id), now]);
      return rowCount;
    },
    async leave(owner, now) {
      await database.query(sql.RELEASE_OWNED, [[owner], now]);
      await database.query(sql.REMOVE_INSTANCE, [owner]);
    },
    async resume(issuerRnc) {
      await database.query(sql.RESUME, [issuerRnc]);
    },
    async backlog() {
      const { rows } = await database.query<{
        state: EmissionState;
        alarm: AlarmKind | null;
        count: number;
        oldest: Date;
      }>(sql.BACKLOG);
      const oldest = Math.min(...rows.map((row) => row.oldest.getTime()));
      return {
        undecided: grouped(rows, (row) => row.state).map(([state, count]) => ({ state, count })),
        alarms: grouped(
          rows.filter((row) => row.alarm !== null),
          (row) => row.alarm as AlarmKind,
        ).map(([kind, count]) => ({ kind, count })),
        oldestCommittedAt: rows.length === 0 ? null : new Date(oldest),
      };
    },
  };
}

/** Rows as one JSON array; throws RangeError where an event among them is too large for the outbox. */
function parameter(rows: readonly { readonly event: BusEvent | null }[]): string {
  const body = JSON.stringify(rows);
  // Where all together are small enough, each is.
  if (Buffer.byteLength(body) > MAX_EVENT_BYTES) for (const { event } of rows) if (event !== null) outboxBody(event);
  return body;
}

interface KnownRow {
  position: number;
  issued: boolean;
  cancelled_by: number | null;
}

const NOTHING: Found = { attempt: null, cancelledBy: null };

/** Numbers as the statements take them. */
function listsOf(keys: readonly DocumentKey[]): string[][] {
  return [keys.map(({ env }) => env), keys.map(({ issuerRnc }) => issuerRnc), keys.map(({ encf }) => encf)];
}

function grouped<R extends { count: number }, K>(rows: readonly R[], keyOf: (row: R) => K): [K, number][] {
  const counts = new Map<K, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + row.count);
  return [...counts];
}

/** Hands out ids from blocks, one query for a hundred. */
function createIdBlocks(nextBlock: () => Promise<number>): () => Promise<number> {
  let next = 0;
  let end = 0;
  let filling: Promise<void> | null = null;
  async function fill(): Promise<void> {
    const start = await nextBlock();
    next = start;
    end = start + IDS_AT_ONCE;
  }
  return async () => {
    while (next >= end) {
      filling ??= fill().finally(() => {
        filling = null;
      });
      await filling;
    }
    next += 1;
    return next - 1;
  };
}
