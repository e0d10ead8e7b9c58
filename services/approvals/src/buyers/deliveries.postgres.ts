import { randomUUID } from 'node:crypto';
import type { AuditAct } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { actEvents, appendToOutbox, onceEach } from '@ecf/service-kit/outbox';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import { Unwritable } from '../errors.js';
import { ACTS } from '../given/approval-rows.postgres.js';
import { unwritable } from '../unwritable.postgres.js';
import { addAcknowledgement, createAcknowledgementStore } from './acknowledgements.postgres.js';
import type { ClaimedDelivery, Delivery, DeliveryKey, DeliveryStatus } from './delivery.js';
import type { AcknowledgementStore, DeliveryAddition, DeliveryStore, HostedConclusion } from './delivery-ports.js';
import { type DeliveryRow, event, fromRow, keyValues, newRow } from './delivery-rows.postgres.js';
import * as sql from './delivery-sql.postgres.js';

/** Deliveries and acknowledgements in PostgreSQL. The inbox notes the events that `group` handled. */
export function createDeliveryStore(
  database: Database,
  group: string,
  clock: () => Date,
): DeliveryStore & { readonly acknowledgements: AcknowledgementStore } {
  return {
    add: (additions) => database.transaction((tx) => add(tx, additions, group, clock())),
    async claimDue(request) {
      const { rows } = await database.query<DeliveryRow>(sql.CLAIM, [
        request.now,
        request.until,
        request.limit,
        randomUUID(),
        request.lapsedBy,
        request.busyBuyers,
        JSON.stringify(request.buyerSlots),
        request.busyHosts,
        JSON.stringify(request.hostSlots),
        request.slotsPerHost,
        request.inFlight,
      ]);
      return rows.map((row) => ({ ...fromRow(row), claim: row.claim as string }));
    },
    async renewLeases(claims, until) {
      await database.query(sql.RENEW, [claims.map(({ id }) => id), claims.map(({ claim }) => claim), until]);
    },
    conclude: (delivery, conclusion) =>
      database.transaction((tx) => conclude(tx, delivery, conclusion, clock())).catch(unwritable),
    async defer({ id, claim }, host, dueAt) {
      await database.query(sql.DEFER, [id, claim, host, dueAt]);
    },
    retry: (key, now, deadlineAt, deliver45, act) =>
      database.transaction((tx) => retry(tx, key, { now, deadlineAt, deliver45, act })),
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
        `SELECT split_part(env, '/', 1) AS env, status, count(*)::int AS count, min(created_at) AS oldest FROM deliveries WHERE due_at IS NOT NULL
          GROUP BY 1, 2`,
      );
      return rows;
    },
    acknowledgements: createAcknowledgementStore(database),
  };
}

async function add(
  tx: Transaction,
  additions: readonly DeliveryAddition[],
  group: string,
  now: Date,
): Promise<boolean> {
  const ids = additions.map(({ eventId }) => eventId);
  const fresh = await onceEach(tx, group, ids);
  const deliveries = additions.filter(({ eventId }) => fresh.has(eventId)).map(({ delivery }) => newRow(delivery));
  if (deliveries.length === 0) return false;
  const { rows } = await tx.query<DeliveryRow>(sql.ADD, [JSON.stringify(deliveries)]);
  // Consumers take an accepted document for pending until an event says otherwise.
  const published = rows.filter(({ status }) => status !== 'pending');
  await appendToOutbox(
    tx,
    published.map((row) => event(row, now)),
  );
  return published.length < rows.length;
}

async function conclude(
  tx: Transaction,
  delivery: ClaimedDelivery,
  { status, dueAt, error, needsCertificate, host, acknowledgement }: HostedConclusion,
  now: Date,
): Promise<Delivery> {
  const values = [delivery.id, delivery.claim, status, dueAt, error, needsCertificate, host];
  const concluded = (await tx.query<DeliveryRow>(sql.CONCLUDE, values)).rows[0];
  if (acknowledgement !== null) await addAcknowledgement(tx, acknowledgement, host);
  if (concluded === undefined) {
    const present = (await tx.query<DeliveryRow>(sql.FIND, [delivery.id])).rows[0];
    if (present === undefined) throw new Unwritable(`the delivery ${delivery.id} is gone`);
    return fromRow(present);
  }
  if (status === 'no_receiver' && dueAt !== null)
    await tx.query(sql.POSTPONE_OTHERS, [concluded.env, concluded.buyer_rnc, concluded.created_at, dueAt, error]);
  if (concluded.status !== delivery.status || dueAt === null) await appendToOutbox(tx, [event(concluded, now)]);
  return fromRow(concluded);
}

async function retry(
  tx: Transaction,
  key: DeliveryKey,
  { now, deadlineAt, deliver45, act }: { now: Date; deadlineAt: Date; deliver45: boolean; act: AuditAct | null },
): Promise<Delivery | null> {
  const [present] = (await tx.query<DeliveryRow>(sql.LOCK, keyValues(key))).rows;
  if (present === undefined) return null;
  const { rows } = await tx.query<DeliveryRow>(sql.RETRY, [...keyValues(key), now, deadlineAt, deliver45]);
  const row = rows[0] ?? present;
  if (row.revision !== present.revision) await appendToOutbox(tx, [event(row, now), ...actEvents(ACTS, act)]);
  return fromRow(row);
}
