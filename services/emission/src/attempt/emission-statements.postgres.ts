import { environmentRun } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { outboxColumns, outboxPartition } from '@ecf/service-kit/outbox';
import { createIds, createSharedCalls, type Database, type Statement } from '@ecf/service-kit/postgres';
import { type PendingDocument, pendingColumns } from '@ecf/service-kit/xml-store';
import type { Drawn, Found, KeyBinding, RecordedExchange } from '../ports.js';
import { type Attempt, type DocumentKey, documentKey } from './attempt.js';
import {
  type AttemptRow,
  attemptRow,
  changedRow,
  emissionRow,
  exchangeRow,
  fromRow,
} from './emission-rows.postgres.js';
import * as sql from './emission-sql.postgres.js';

/** A new attempt with everything that is committed with it. */
export interface Beginning {
  readonly attempt: Attempt;
  readonly event: BusEvent;
  readonly sealedCertificate: Uint8Array | null;
  readonly files: readonly PendingDocument[];
  /** For a credit note, how many attempts of notes its check found. */
  readonly notesFound: number | null;
  /** For a document with an idempotency key: the key, and the draw of its number unless it states one. */
  readonly binding: Drawn | KeyBinding | null;
}

/** An attempt after a transition, with the answers that caused it. `event` is null if nobody has to learn of it. */
export interface Saving {
  readonly before: Attempt;
  readonly after: Attempt;
  readonly event: BusEvent | null;
  /** The act of a person that made the transition. */
  readonly acted: BusEvent | null;
  readonly exchanges: readonly RecordedExchange[];
}

const SHARED = { maxItems: 64, maxInFlight: 2 };
const NOTHING: Found = { attempt: null, cancelledBy: null, run: 1 };

/**
 * The statements of the submission path. Calls that arrive while statements run share the next statement, its round trip
 * and its commit.
 */
export function createEmissionStatements(database: Database) {
  const finds = createSharedCalls<DocumentKey, Attempt | null>({
    ...SHARED,
    keyOf: (key) => key,
    async work(keys) {
      const { rows } = await database.query<AttemptRow & { position: number }>(sql.FIND, columnsOf(keys));
      const found = new Map(rows.map((row) => [row.position - 1, fromRow(row)]));
      return keys.map((_, index) => found.get(index) ?? null);
    },
  });

  const looks = createSharedCalls<DocumentKey, Found>({
    ...SHARED,
    keyOf: (key) => key,
    async work(keys) {
      const { rows } = await database.query<LookRow>(sql.LOOK, columnsOf(keys));
      const found = new Map(rows.map((row) => [row.position - 1, fromLookRow(row)]));
      return keys.map((_, index) => found.get(index) ?? NOTHING);
    },
  });

  const beginnings = (statement: Statement, more: (items: readonly Beginning[]) => unknown[]) =>
    createSharedCalls<Beginning, boolean>({
      ...SHARED,
      keyOf: ({ attempt }) => documentKey(attempt),
      async work(items) {
        const { rows } = await database.query<{ id: number }>(statement, [...beginningColumns(items), ...more(items)]);
        signal(database, items);
        const begun = new Set(rows.map(({ id }) => id));
        return items.map(({ attempt }) => begun.has(attempt.emissionId));
      },
    }).run;

  const savings = (statement: Statement) =>
    createSharedCalls<Saving, boolean>({
      ...SHARED,
      keyOf: ({ after }) => after.emissionId,
      async work(items) {
        const { rows } = await database.query<{ emission_id: number }>(statement, [
          JSON.stringify(items.map(({ after }) => changedRow(after))),
          JSON.stringify(items.flatMap(({ after, exchanges }) => exchanges.map((one) => exchangeRow(after, one)))),
          ...eventColumns(
            items.flatMap(({ after, event, acted }) =>
              [event, acted].map((one) => ({ id: after.emissionId, event: one })),
            ),
          ),
          items.map(({ before }) => before.emissionId),
          items.map(({ before }) => before.revision),
        ]);
        signal(
          database,
          items.flatMap(({ event, acted }) => [{ event }, { event: acted }]),
        );
        const saved = new Set(rows.map(({ emission_id }) => emission_id));
        return items.map(({ after }) => saved.has(after.emissionId));
      },
    });

  return {
    nextId: createIds(async (count) => {
      const { rows } = await database.query<{ id: number }>(sql.NEXT_IDS, [count]);
      return rows.map(({ id }) => id);
    }),
    find: finds.run,
    look: looks.run,
    begin: beginnings(sql.BEGIN, () => []),
    beginKeyed: beginnings(sql.BEGIN_KEYED, (items) => [
      items.map(({ attempt }) => attempt.emissionId),
      items.map(({ binding }) => binding?.idempotencyKey),
      items.map(({ binding }) => binding?.contentHash),
    ]),
    beginDrawn: beginnings(sql.BEGIN_DRAWN, (items) => [
      items.map(({ attempt }) => attempt.emissionId),
      items.map(({ binding }) => (binding as Drawn).token),
      items.map(({ binding }) => binding?.idempotencyKey),
      items.map(({ binding }) => binding?.contentHash),
    ]),
    save: savings(sql.SAVE).run,
    saveDecided: savings(sql.SAVE_DECIDED).run,
  };
}

/** The parameters of BEGIN. */
function beginningColumns(items: readonly Beginning[]): unknown[] {
  const notes = items.filter(({ notesFound }) => notesFound !== null);
  const certificates = items.filter(({ sealedCertificate }) => sealedCertificate !== null);
  return [
    JSON.stringify(items.map(({ attempt }) => emissionRow(attempt))),
    JSON.stringify(items.map(({ attempt }) => attemptRow(attempt))),
    certificates.map(({ attempt }) => attempt.emissionId),
    certificates.map(({ sealedCertificate }) => sealedCertificate),
    ...eventColumns(items.map(({ attempt, event }) => ({ id: attempt.emissionId, event }))),
    items.flatMap(({ attempt, files }) => files.map(() => attempt.emissionId)),
    ...pendingColumns(items.flatMap(({ files }) => files)),
    notes.map(({ attempt }) => attempt.emissionId),
    notes.map(({ attempt }) => attempt.modifies),
    notes.map(({ notesFound }) => notesFound),
  ];
}

/** A row of LOOK. The columns of the attempt are null if the number is cancelled and was never issued. */
type LookRow = (AttemptRow | { emission_id: null }) & {
  position: number;
  stored_env: string;
  cancelled_by: number | null;
};

function fromLookRow(row: LookRow): Found {
  const { run } = environmentRun(row.stored_env);
  return { attempt: row.emission_id === null ? null : fromRow(row), cancelledBy: row.cancelled_by, run };
}

/** Keys as the parameters of FIND and LOOK. */
export function columnsOf(keys: readonly DocumentKey[]): unknown[] {
  return [
    keys.map(({ env }) => env),
    keys.map(({ issuerRnc }) => issuerRnc),
    keys.map(({ encf }) => encf),
    keys.map(({ run }) => run ?? null),
  ];
}

/** The emissions of events, and the events as {@link outboxColumns}. */
function eventColumns(all: readonly { id: number; event: BusEvent | null }[]): unknown[] {
  const some = all.flatMap(({ id, event }) => (event === null ? [] : [{ id, event }]));
  return [some.map(({ id }) => id), ...outboxColumns(some.map(({ event }) => event))];
}

function signal(database: Database, items: readonly { event: BusEvent | null }[]): void {
  const partitions = new Set<number>();
  for (const { event } of items) if (event !== null) partitions.add(outboxPartition(event.key));
  if (partitions.size > 0) database.signalOutbox(partitions);
}
