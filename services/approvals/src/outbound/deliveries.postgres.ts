import { randomUUID } from 'node:crypto';
import type { Environment } from '@ecf/domain';
import { appendToOutbox, onceEach } from '@ecf/service-kit/outbox';
import { createBatches, type Database, type Transaction } from '@ecf/service-kit/postgres';
import type { ClaimedDelivery, Delivery, DeliveryStatus, NewDelivery } from '../core/deliveries/delivery.js';
import type { AcknowledgementStore, DeliveryStore } from '../core/deliveries/delivery-ports.js';
import { Unwritable } from '../core/errors.js';
import { addAcknowledgements, createAcknowledgementStore } from './acknowledgements.postgres.js';
import {
  type Concluding,
  concludingRow,
  type DeliveryRow,
  event,
  fromRow,
  keyValues,
  latestOfEachBuyer,
  newRow,
} from './delivery-rows.js';
import * as sql from './delivery-sql.js';
import { unwritable } from './unwritable.js';

interface Adding {
  readonly delivery: NewDelivery;
  readonly eventId: string;
}

interface Deferring {
  readonly delivery: ClaimedDelivery;
  readonly host: string | null;
  readonly dueAt: Date;
}

/** One at a time: what comes meanwhile shares the next transaction. */
const BATCH = { maxItems: 100, maxUnderWay: 1 };

/**
 * Deliveries and acknowledgements in PostgreSQL; what is added or concluded at the same time shares a transaction. `group`
 * names the consumer group whose events are noted.
 */
export function createDeliveryStore(
  database: Database,
  group: string,
  clock: () => Date,
): DeliveryStore & { readonly acknowledgements: AcknowledgementStore } {
  const adding = createBatches<Adding, boolean>({
    ...BATCH,
    keyOf: ({ delivery }) => keyValues(delivery.key).join(':'),
    work: (items) => database.transaction((tx) => addAll(tx, items)),
  });
  const concluding = createBatches<Concluding, Delivery>({
    ...BATCH,
    keyOf: ({ delivery }) => delivery.id,
    work: (items) => database.transaction((tx) => concludeAll(tx, items)),
  });
  const deferring = createBatches<Deferring, void>({
    ...BATCH,
    keyOf: ({ delivery }) => delivery.id,
    work: async (items) => {
      const rows = items.map(({ delivery: { id, claim }, host, dueAt }) => ({ id, claim, host, due_at: dueAt }));
      await database.query(sql.DEFER, [JSON.stringify(rows)]);
      return items.map(() => undefined);
    },
  });

  async function addAll(tx: Transaction, items: readonly Adding[]): Promise<boolean[]> {
    const fresh = await onceEach(
      tx,
      group,
      items.map(({ eventId }) => eventId),
    );
    const news = items.filter(({ eventId }) => fresh.has(eventId));
    if (news.length === 0) return items.map(() => false);
    const { rows } = await tx.query<DeliveryRow>(sql.ADD, [
      JSON.stringify(news.map(({ delivery }) => newRow(delivery))),
    ]);
    // That it is pending, those who show it know by themselves.
    const told = rows.filter(({ status }) => status !== 'pending');
    await appendToOutbox(
      tx,
      told.map((row) => event(row, clock())),
    );
    const added = new Set(rows.map((row) => keyValues(fromRow(row).key).join(':')));
    return items.map(({ delivery, eventId }) => fresh.has(eventId) && added.has(keyValues(delivery.key).join(':')));
  }

  async function concludeAll(tx: Transaction, items: readonly Concluding[]): Promise<Delivery[]> {
    const { rows } = await tx.query<DeliveryRow>(sql.CONCLUDE, [JSON.stringify(items.map(concludingRow))]);
    await addAcknowledgements(
      tx,
      items.flatMap(({ conclusion }) => conclusion.acknowledgement ?? []),
    );
    const concluded = new Map(rows.map((row) => [row.id, row]));
    const absent = rows.filter(({ status, due_at }) => status === 'no_receiver' && due_at !== null);
    if (absent.length > 0) await tx.query(sql.ALIKE, [JSON.stringify(latestOfEachBuyer(absent))]);
    const changed = items.flatMap(({ delivery }) => {
      const row = concluded.get(delivery.id);
      return row === undefined || (row.status === delivery.status && row.due_at !== null) ? [] : [row];
    });
    await appendToOutbox(
      tx,
      changed.map((row) => event(row, clock())),
    );
    const others = items.map(({ delivery }) => delivery.id).filter((id) => !concluded.has(id));
    if (others.length > 0)
      for (const row of (await tx.query<DeliveryRow>(sql.FIND, [others])).rows) concluded.set(row.id, row);
    return items.map(({ delivery: { id } }) => {
      const row = concluded.get(id);
      if (row === undefined) throw new Unwritable(`the delivery ${id} is gone`);
      return fromRow(row);
    });
  }

  return {
    add: (delivery, eventId) => adding.run({ delivery, eventId }),
    async claimDue({
      now,
      until,
      limit,
      lapsedBy,
      busyBuyers,
      buyerSlots,
      busyHosts,
      hostSlots,
      slotsPerHost,
      inFlight,
    }) {
      const { rows } = await database.query<DeliveryRow>(sql.CLAIM, [
        now,
        until,
        limit,
        randomUUID(),
        lapsedBy,
        busyBuyers,
        JSON.stringify(buyerSlots),
        busyHosts,
        JSON.stringify(hostSlots),
        slotsPerHost,
        inFlight,
      ]);
      return rows.map((row) => ({ ...fromRow(row), claim: row.claim as string }));
    },
    async keep(claims, until) {
      await database.query(sql.KEEP, [claims.map(({ id }) => id), claims.map(({ claim }) => claim), until]);
    },
    conclude: (delivery, conclusion) => concluding.run({ delivery, conclusion }).catch(unwritable),
    defer: (delivery, host, dueAt) => deferring.run({ delivery, host, dueAt }),
    retry: (key, now, deadlineAt, deliver45) =>
      database.transaction(async (tx) => {
        const before = await tx.query<DeliveryRow>(
          'SELECT * FROM deliveries WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 FOR UPDATE',
          keyValues(key),
        );
        const [present] = before.rows;
        if (present === undefined) return null;
        const { rows } = await tx.query<DeliveryRow>(sql.RETRY, [...keyValues(key), now, deadlineAt, deliver45]);
        const row = rows[0] ?? present;
        if (row.revision !== present.revision) await appendToOutbox(tx, [event(row, now)]);
        return fromRow(row);
      }),
    giveUp: ({ now, buyers, hosts }) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query<DeliveryRow>(sql.GIVE_UP, [now, buyers, hosts, sql.NEVER_REACHED]);
        await appendToOutbox(
          tx,
          rows.map((row) => event(row, now)),
        );
        return rows.map(fromRow);
      }),
    async resume(issuerRnc, now) {
      return (await database.query(sql.RESUME, [issuerRnc, now])).rowCount;
    },
    async list({ env, status, issuer_rnc, buyer_rnc, encf, before, limit }) {
      const filter = [env, status, issuer_rnc, buyer_rnc, encf, before].map((value) => value ?? null);
      const { rows } = await database.query<DeliveryRow>(sql.LIST, [...filter, limit]);
      return rows.map(fromRow);
    },
    async backlog() {
      const { rows } = await database.query<{ env: Environment; status: DeliveryStatus; count: number; oldest: Date }>(
        `SELECT env, status, count(*)::int AS count, min(created_at) AS oldest FROM deliveries WHERE due_at IS NOT NULL
          GROUP BY env, status`,
      );
      return rows;
    },
    acknowledgements: createAcknowledgementStore(database),
  };
}
