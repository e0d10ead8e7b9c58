import { randomUUID } from 'node:crypto';
import { appendToOutbox, onceEach } from '@ecf/bus';
import { actEvents, makeEvent } from '@ecf/bus/events';
import { type DeliveryChanged, documentKey, type OutcomeOperations, TOPICS } from '@ecf/contracts';
import { type Environment, environmentRun, storedEnvironment } from '@ecf/domain';
import { camelCaseRows, type Database, pagesOf, queryBuilder, snakeCaseRow, type Transaction } from '@ecf/postgres';
import { type Insertable, sql } from 'kysely';
import { Unwritable } from '../errors.js';
import { ACTS } from '../events.postgres.js';
import type { DB, OutgoingDocument } from '../generated/tables.js';
import { buyerRecipient, type Claimed, type EcfKey } from '../sending/outgoing.js';
import { concludeOutgoing, type OutgoingRow, outgoingFrom, unwritable } from '../sending/outgoing.postgres.js';
import { addAcknowledgement } from './acknowledgements.postgres.js';
import type { Delivery, DeliveryStatus, NewDelivery } from './delivery.js';
import type { DeliveryAddition, DeliveryEnding, DeliveryStore, RetryRequest } from './ports.js';

const COLUMNS = `kind, env, issuer_rnc, encf, buyer_rnc, account_id, recipient, xml_path, xml_sha256, status, created_at,
  deadline_at, due_at, traceparent, host`;
/** The stored environment of the present certification run of the issuer $2 in $1. */
const PRESENT = `coalesce((SELECT $1 || '/' || c.run FROM certification_run c WHERE c.env = $1 AND c.issuer_rnc = $2), $1)`;

const ADD = {
  name: 'delivery_add',
  text: `INSERT INTO outgoing_documents (${COLUMNS})
         SELECT ${COLUMNS} FROM json_populate_recordset(NULL::outgoing_documents, $1::json) ORDER BY env, issuer_rnc, encf
         ON CONFLICT (env, issuer_rnc, encf) WHERE kind = 'delivery' DO NOTHING RETURNING *`,
};
/**
 * Other deliveries of a buyer without receiver that wait for their first look-up. The same answer postpones them, so that
 * thousands are not claimed one by one. Their next look-ups are spread over ten minutes.
 */
const POSTPONE_OTHERS = {
  name: 'delivery_postpone_others',
  text: `WITH others AS (
           SELECT id FROM outgoing_documents
            WHERE kind = 'delivery' AND env = $1 AND buyer_rnc = $2 AND created_at <= $3 AND status = 'no_receiver' AND tries = 0
              AND claim IS NULL AND deadline_at > $4::timestamptz + interval '10 minutes'
            ORDER BY id FOR UPDATE SKIP LOCKED)
         UPDATE outgoing_documents d SET tries = 1, due_at = $4::timestamptz + (d.id % 600) * interval '1 second',
           last_error = $5, host = NULL
         FROM others WHERE d.id = others.id`,
};
const LOCK = {
  name: 'delivery_lock',
  text: `SELECT * FROM outgoing_documents
          WHERE kind = 'delivery' AND env = ${PRESENT} AND issuer_rnc = $2 AND encf = $3 FOR UPDATE`,
};
const RETRY = {
  name: 'delivery_retry',
  text: `UPDATE outgoing_documents SET due_at = $2, deadline_at = $3, claim = NULL, tries = 0, needs_certificate = false,
           host = NULL, status = CASE WHEN status = 'unacknowledged' THEN status ELSE 'pending' END,
           revision = revision + CASE WHEN status IN ('pending', 'unacknowledged') THEN 0 ELSE 1 END
         WHERE id = $1 AND status <> 'delivered' AND (status <> 'not_required' OR $4::boolean) RETURNING *`,
};
const RESUME = {
  name: 'delivery_resume',
  text: `UPDATE outgoing_documents SET due_at = $2, needs_certificate = false
          WHERE issuer_rnc = $1 AND needs_certificate AND claim IS NULL AND due_at > $2`,
};
const BACKLOG = `SELECT split_part(env, '/', 1) AS env, status, count(*)::int AS count, min(created_at) AS oldest
                   FROM outgoing_documents WHERE kind = 'delivery' AND due_at IS NOT NULL GROUP BY 1, 2`;

/** Deliveries in PostgreSQL. The inbox notes the events that `group` handled. */
export function createDeliveryStore(database: Database, group: string, clock: () => Date): DeliveryStore {
  const builder = queryBuilder<DB>(database);
  return {
    add: (additions) => database.transaction((tx) => add(tx, additions, group, clock())),
    conclude: (delivery, ending) =>
      database.transaction((tx) => conclude(tx, delivery, ending, clock())).catch(unwritable),
    retry: (key, request) => database.transaction((tx) => retry(tx, key, request)),
    async resume(issuerRnc, now) {
      return (await database.query(RESUME, [issuerRnc, now])).rowCount;
    },
    async list({ env, status, issuer_rnc, buyer_rnc, encf, before, limit }) {
      let query = builder.selectFrom('outgoingDocuments').selectAll().where('kind', '=', 'delivery');
      if (env !== undefined) query = query.where(sql`split_part(env, '/', 1)`, '=', env);
      if (status !== undefined) query = query.where('status', '=', status);
      if (issuer_rnc !== undefined) query = query.where('issuerRnc', '=', issuer_rnc);
      if (buyer_rnc !== undefined) query = query.where('buyerRnc', '=', buyer_rnc);
      if (encf !== undefined) query = query.where('encf', '=', encf);
      if (before !== undefined) query = query.where('id', '<', before);
      return (await query.orderBy('id', 'desc').limit(limit).execute()).map(deliveryFrom);
    },
    async backlog() {
      type Row = { env: Environment; status: DeliveryStatus; count: number; oldest: Date };
      return (await database.query<Row>(BACKLOG)).rows;
    },
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
  const rows = camelCaseRows<OutgoingRow>((await tx.query(ADD, [JSON.stringify(deliveries)])).rows);
  // Consumers treat an accepted document as pending until an event says otherwise.
  const published = rows.filter(({ status }) => status !== 'pending');
  await publishDeliveries(tx, published, now);
  return published.length < rows.length;
}

async function conclude(tx: Transaction, delivery: Claimed, ending: DeliveryEnding, now: Date): Promise<Delivery> {
  const { status, dueAt, error, host, acknowledgement } = ending;
  const row = await concludeOutgoing(tx, delivery, ending, { taken: status === 'delivered', open: delivery.status });
  if (row === null) throw new Unwritable(`the delivery ${delivery.id} does not exist`);
  if (acknowledgement !== null) await addAcknowledgement(tx, acknowledgement, host);
  if (!row.counts) return deliveryFrom(row);
  if (status === 'no_receiver' && dueAt !== null)
    await tx.query(POSTPONE_OTHERS, [row.env, row.buyerRnc, row.createdAt, dueAt, error]);
  if (row.status !== delivery.status || dueAt === null) await publishDeliveries(tx, [row], now);
  return deliveryFrom(row);
}

async function retry(
  tx: Transaction,
  { env, issuerRnc, encf }: EcfKey,
  request: RetryRequest,
): Promise<Delivery | null> {
  const { now, deadlineAt, deliver45, act } = request;
  const [present] = camelCaseRows<OutgoingRow>((await tx.query(LOCK, [env, issuerRnc, encf])).rows);
  if (present === undefined) return null;
  const retried = await tx.query(RETRY, [present.id, now, deadlineAt, deliver45]);
  const row = camelCaseRows<OutgoingRow>(retried.rows)[0] ?? present;
  if (row.revision !== present.revision) {
    await publishDeliveries(tx, [row], now);
    await appendToOutbox(tx, actEvents(ACTS, act));
  }
  return deliveryFrom(row);
}

/** Publishes `delivery.changed` with the present state of each. */
export async function publishDeliveries(tx: Transaction, rows: readonly OutgoingRow[], now: Date): Promise<void> {
  const events = rows.map((row) => {
    const data = deliveryChanged(row);
    const subject = `${data.issuer_rnc}:${data.encf}`;
    const draft = { topic: TOPICS.deliveries.name, type: 'delivery.changed', source: 'approvals', subject };
    // Deliveries that are given up have several traces.
    const stamp = { id: randomUUID(), time: now, traceparent: row.traceparent };
    return makeEvent({ ...draft, key: documentKey(data), data }, stamp);
  });
  await appendToOutbox(tx, events);
}

/** Publishes the deliveries that changed since then, or that are open, again. */
export async function publishDeliveriesSince(tx: Transaction, since: Date, now: Date): Promise<void> {
  const read = async (after: number, limit: number) =>
    camelCaseRows<OutgoingRow>((await tx.query(CHANGED, [since, after, limit])).rows);
  for await (const rows of pagesOf(read, ({ id }) => id)) await publishDeliveries(tx, rows, now);
}

const CHANGED = `SELECT * FROM outgoing_documents WHERE kind = 'delivery' AND id > $2
  AND (created_at >= $1 OR sent_at >= $1 OR due_at IS NOT NULL) ORDER BY id LIMIT $3`;

/** A page of all deliveries by id, as they are published, for a rebuild of read models. */
export const pageOfDeliveries =
  (database: Database): OutcomeOperations['pageOfDeliveries'] =>
  async ({ after, limit }) => {
    const rows = await queryBuilder<DB>(database)
      .selectFrom('outgoingDocuments')
      .selectAll()
      .where('kind', '=', 'delivery')
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute();
    return { deliveries: rows.map(deliveryChanged), next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
  };

/** The present state as it is published. */
function deliveryChanged(row: OutgoingRow): DeliveryChanged {
  return {
    ...environmentRun(row.env),
    issuer_rnc: row.issuerRnc,
    encf: row.encf,
    buyer_rnc: row.buyerRnc,
    revision: row.revision,
    delivery_status: row.status as DeliveryStatus,
    final: row.dueAt === null,
  };
}

function deliveryFrom(row: OutgoingRow): Delivery {
  return outgoingFrom(row) as Delivery;
}

/** A new delivery, for `json_populate_recordset(NULL::outgoing_documents)`. */
function newRow({ key: { env, run = 1, issuerRnc, encf }, xml, ...delivery }: NewDelivery): object {
  return snakeCaseRow({
    ...delivery,
    kind: 'delivery',
    env: storedEnvironment({ env, run }),
    issuerRnc,
    encf,
    recipient: buyerRecipient(env, delivery.buyerRnc),
    xmlPath: xml.path,
    xmlSha256: xml.sha256,
  } satisfies Insertable<OutgoingDocument>);
}
