import { randomUUID } from 'node:crypto';
import { type DeliveryChanged, documentKey, TOPICS } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import {
  appendToOutbox,
  type BusEvent,
  type Database,
  makeEvent,
  once,
  type Queries,
  type Transaction,
} from '@ecf/service-kit';
import type { NewAcknowledgement, StoredAcknowledgement } from '../core/acknowledgement.js';
import type { ClaimedDelivery, Delivery, DeliveryKey, DeliveryStatus } from '../core/delivery.js';
import type { AcknowledgementStore, DeliveryStore } from '../core/delivery-ports.js';

/** What one receiver can fill a look with before the others are looked at. */
const LOOKED_AT = 1_000;

const ADD = {
  name: 'delivery_add',
  text: `INSERT INTO deliveries (env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256, status, created_at,
           deadline_at, due_at, traceparent)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (env, issuer_rnc, encf) DO NOTHING RETURNING *`,
};
// Hundreds of names: sub-selects are hashed, arrays would be searched for every row.
const CLAIM = {
  name: 'delivery_claim',
  text: `WITH due AS (
           SELECT id, due_at, env || ':' || buyer_rnc AS lane FROM deliveries
            WHERE due_at <= $1 AND env || ':' || buyer_rnc NOT IN (SELECT unnest($4::text[])) ORDER BY due_at LIMIT ${LOOKED_AT}),
         turn AS (SELECT id, due_at, lane, row_number() OVER (PARTITION BY lane ORDER BY due_at, id) AS place FROM due),
         picked AS (
           SELECT d.id FROM deliveries d JOIN turn USING (id)
            WHERE d.due_at <= $1 AND turn.place <= CASE WHEN turn.lane IN (SELECT unnest($5::text[])) THEN $6::int ELSE 1 END
            ORDER BY d.due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
         UPDATE deliveries d SET due_at = $2, claim = $7, tries = d.tries + 1 FROM picked WHERE d.id = picked.id
         RETURNING d.*`,
};
const KEEP = {
  name: 'delivery_keep',
  text: `WITH kept AS (
           SELECT d.id FROM deliveries d JOIN unnest($1::bigint[], $2::uuid[]) AS k(id, claim) USING (id, claim)
            ORDER BY d.id FOR UPDATE OF d)
         UPDATE deliveries SET due_at = $3 FROM kept WHERE deliveries.id = kept.id`,
};
// A send that delivered counts even where its lease had ended; what was delivered stays so.
const CONCLUDE = {
  name: 'delivery_conclude',
  text: `UPDATE deliveries SET status = $3, due_at = $4, last_error = $5, claim = NULL,
           revision = revision + CASE WHEN status = $3 THEN 0 ELSE 1 END
         WHERE id = $1 AND status <> 'delivered' AND (claim = $2 OR $3 = 'delivered') RETURNING *`,
};
const ACKNOWLEDGE = {
  name: 'acknowledgement_add',
  text: `INSERT INTO received_acknowledgements (env, issuer_rnc, encf, buyer_rnc, receipt_status, rejection_code,
           acknowledged_at, received_at, valid, validation_error, xml_path, xml_sha256)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (env, issuer_rnc, encf, xml_sha256) DO NOTHING`,
};
const LIST_ACKNOWLEDGEMENTS = {
  name: 'acknowledgement_list',
  text: `SELECT * FROM received_acknowledgements
          WHERE env = $1 AND issuer_rnc = $2 AND ($3::text IS NULL OR encf = $3)
            AND ($4::smallint IS NULL OR receipt_status = $4)
          ORDER BY received_at DESC, id DESC LIMIT $5 OFFSET $6`,
};
const FIND_ACKNOWLEDGEMENT = {
  name: 'acknowledgement_find',
  text: `SELECT * FROM received_acknowledgements WHERE env = $1 AND issuer_rnc = $2 AND encf = $3
          ORDER BY valid DESC, received_at DESC, id DESC LIMIT 1`,
};
const LIST = {
  name: 'delivery_list',
  text: `SELECT * FROM deliveries
          WHERE ($1::text IS NULL OR env = $1) AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR issuer_rnc = $3)
            AND ($4::text IS NULL OR buyer_rnc = $4) AND ($5::text IS NULL OR encf = $5) AND ($6::bigint IS NULL OR id < $6)
          ORDER BY id DESC LIMIT $7`,
};
const RETRY = {
  name: 'delivery_retry',
  text: `UPDATE deliveries SET due_at = $4, deadline_at = $5, claim = NULL, tries = 0,
           status = CASE WHEN status = 'unacknowledged' THEN status ELSE 'pending' END,
           revision = revision + CASE WHEN status IN ('pending', 'unacknowledged') THEN 0 ELSE 1 END
         WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 AND status <> 'delivered' RETURNING *`,
};

interface Row {
  id: number;
  env: Environment;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  account_id: string;
  xml_path: string;
  xml_sha256: string;
  status: DeliveryStatus;
  revision: number;
  created_at: Date;
  deadline_at: Date;
  due_at: Date | null;
  claim: string | null;
  tries: number;
  last_error: string | null;
  traceparent: string | null;
}

interface AcknowledgementRow {
  id: number;
  env: Environment;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  receipt_status: 0 | 1 | null;
  rejection_code: 1 | 2 | 3 | 4 | null;
  acknowledged_at: Date | null;
  received_at: Date;
  validation_error: string | null;
  xml_path: string;
  xml_sha256: string;
}

/** Deliveries and acknowledgements in PostgreSQL. `group` names the consumer group whose events are noted. */
export function createDeliveryStore(
  database: Database,
  group: string,
  clock: () => Date,
): DeliveryStore & { readonly acknowledgements: AcknowledgementStore } {
  return {
    add: (delivery, eventId) =>
      database.transaction(async (tx) => {
        if (!(await once(tx, group, eventId))) return false;
        const { status, createdAt, xml } = delivery;
        const { rows } = await tx.query<Row>(ADD, [
          ...keyValues(delivery.key),
          delivery.buyerRnc,
          delivery.accountId,
          xml.path,
          xml.sha256,
          status,
          createdAt,
          delivery.deadlineAt,
          status === 'pending' ? createdAt : null,
          delivery.traceparent,
        ]);
        const [row] = rows;
        // That it is pending, those who show it know by themselves.
        if (row !== undefined && status !== 'pending') await appendToOutbox(tx, [event(row, clock())]);
        return row !== undefined;
      }),
    async claimDue({ now, until, limit, blocked, proven, perLane }) {
      const { rows } = await database.query<Row>(CLAIM, [now, until, limit, blocked, proven, perLane, randomUUID()]);
      return rows.map((row): ClaimedDelivery => ({ ...fromRow(row), claim: row.claim as string }));
    },
    async keep(claims, until) {
      await database.query(KEEP, [claims.map(({ id }) => id), claims.map(({ claim }) => claim), until]);
    },
    conclude: (delivery, { status, dueAt, error, acknowledgement }) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query<Row>(CONCLUDE, [delivery.id, delivery.claim, status, dueAt, error]);
        if (acknowledgement !== null) await tx.query(ACKNOWLEDGE, acknowledgementValues(acknowledgement));
        const [row] = rows;
        if (row === undefined) return found(tx, delivery.id);
        if (row.status !== delivery.status) await announce(tx, row, clock());
        return fromRow(row);
      }),
    retry: (key, now, deadlineAt) =>
      database.transaction(async (tx) => {
        const before = await tx.query<Row>(
          'SELECT * FROM deliveries WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 FOR UPDATE',
          keyValues(key),
        );
        const [present] = before.rows;
        if (present === undefined) return null;
        const { rows } = await tx.query<Row>(RETRY, [...keyValues(key), now, deadlineAt]);
        const row = rows[0] ?? present;
        if (row.revision !== present.revision) await announce(tx, row, now);
        return fromRow(row);
      }),
    async list({ env, status, issuer_rnc, buyer_rnc, encf, before, limit }) {
      const filter = [env, status, issuer_rnc, buyer_rnc, encf, before].map((value) => value ?? null);
      const { rows } = await database.query<Row>(LIST, [...filter, limit]);
      return rows.map(fromRow);
    },
    async backlog() {
      const { rows } = await database.query<{ env: Environment; status: DeliveryStatus; count: number; oldest: Date }>(
        `SELECT env, status, count(*)::int AS count, min(created_at) AS oldest FROM deliveries WHERE due_at IS NOT NULL
          GROUP BY env, status`,
      );
      return rows;
    },
    acknowledgements: {
      async list({ env, issuerRnc, encf, receiptStatus, limit, offset }) {
        const params = [env, issuerRnc, encf, receiptStatus, limit, offset];
        const { rows } = await database.query<AcknowledgementRow>(LIST_ACKNOWLEDGEMENTS, params);
        return rows.map(fromAcknowledgementRow);
      },
      async find(key) {
        const { rows } = await database.query<AcknowledgementRow>(FIND_ACKNOWLEDGEMENT, keyValues(key));
        return rows[0] === undefined ? null : fromAcknowledgementRow(rows[0]);
      },
    },
  };
}

async function found(queries: Queries, id: number): Promise<Delivery> {
  const { rows } = await queries.query<Row>('SELECT * FROM deliveries WHERE id = $1', [id]);
  if (rows[0] === undefined) throw new Error(`the delivery ${id} is gone`);
  return fromRow(rows[0]);
}

async function announce(tx: Transaction, row: Row, now: Date): Promise<void> {
  await appendToOutbox(tx, [event(row, now)]);
}

function event(row: Row, now: Date): BusEvent {
  const data: DeliveryChanged = {
    env: row.env,
    issuer_rnc: row.issuer_rnc,
    encf: row.encf,
    buyer_rnc: row.buyer_rnc,
    revision: row.revision,
    delivery_status: row.status,
  };
  return makeEvent(
    {
      topic: TOPICS.deliveries.name,
      type: 'delivery.changed',
      source: 'approvals',
      subject: `${data.issuer_rnc}:${data.encf}`,
      key: documentKey(data),
      data,
    },
    { id: randomUUID(), time: now },
  );
}

function keyValues({ env, issuerRnc, encf }: DeliveryKey): [string, string, string] {
  return [env, issuerRnc, encf];
}

function acknowledgementValues(acknowledgement: NewAcknowledgement): unknown[] {
  const { key, xml, fault } = acknowledgement;
  return [
    ...keyValues(key),
    acknowledgement.buyerRnc,
    acknowledgement.receiptStatus,
    acknowledgement.motive,
    acknowledgement.acknowledgedAt,
    acknowledgement.receivedAt,
    fault === null,
    fault?.replaceAll('\u0000', '\ufffd') ?? null,
    xml.path,
    xml.sha256,
  ];
}

function fromRow(row: Row): Delivery {
  return {
    id: row.id,
    key: { env: row.env, issuerRnc: row.issuer_rnc, encf: row.encf },
    buyerRnc: row.buyer_rnc,
    accountId: row.account_id,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    status: row.status,
    createdAt: row.created_at,
    deadlineAt: row.deadline_at,
    dueAt: row.due_at,
    tries: row.tries,
    lastError: row.last_error,
    traceparent: row.traceparent,
  };
}

function fromAcknowledgementRow(row: AcknowledgementRow): StoredAcknowledgement {
  return {
    id: row.id,
    key: { env: row.env, issuerRnc: row.issuer_rnc, encf: row.encf },
    buyerRnc: row.buyer_rnc,
    receiptStatus: row.receipt_status,
    motive: row.rejection_code,
    acknowledgedAt: row.acknowledged_at,
    receivedAt: row.received_at,
    fault: row.validation_error,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
  };
}
