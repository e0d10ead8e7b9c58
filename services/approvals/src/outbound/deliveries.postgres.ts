import { randomUUID } from 'node:crypto';
import { type DeliveryChanged, documentKey, TOPICS } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import {
  appendToOutbox,
  type BusEvent,
  createBatches,
  type Database,
  makeEvent,
  onceEach,
  type Transaction,
} from '@ecf/service-kit';
import type { NewAcknowledgement, StoredAcknowledgement } from '../core/acknowledgement.js';
import type { ClaimedDelivery, Delivery, DeliveryKey, DeliveryStatus, NewDelivery } from '../core/delivery.js';
import type {
  AcknowledgementStore,
  DeliveryStore,
  HeldAcknowledgement,
  HostedConclusion,
} from '../core/delivery-ports.js';
import { Unwritable } from '../core/errors.js';
import { unwritable } from './unwritable.js';

/** Of one whose turn never came. */
const NEVER_REACHED = 'Its receiver failed repeatedly and was left alone until the deadline.';
/** Those of one receiver or host can fill a look; another follows at once then, which passes over it. */
const LOOKED_AT = 1_000;

const ADD = {
  name: 'delivery_add',
  text: `INSERT INTO deliveries (env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256, status, created_at,
           deadline_at, due_at, traceparent, host)
         SELECT * FROM json_to_recordset($1::json) AS r(env text, issuer_rnc text, encf text, buyer_rnc text, account_id text,
           xml_path text, xml_sha256 text, status text, created_at timestamptz, deadline_at timestamptz, due_at timestamptz,
           traceparent text, host text)
         ORDER BY env, issuer_rnc, encf
         ON CONFLICT (env, issuer_rnc, encf) DO NOTHING RETURNING *`,
};
// Hundreds of names: sub-selects are hashed and objects sorted, arrays would be searched for every row.
const CLAIM = {
  name: 'delivery_claim',
  text: `WITH due AS (
           SELECT id, due_at, env || ':' || buyer_rnc AS lane, env || ':' || host AS host FROM deliveries
            WHERE due_at <= $1 AND (claim IS NULL OR due_at <= $10) AND env || ':' || buyer_rnc NOT IN (SELECT unnest($4::text[]))
              AND (host IS NULL OR env || ':' || host NOT IN (SELECT unnest($8::text[]))) ORDER BY due_at LIMIT ${LOOKED_AT}),
         turn AS (SELECT id, due_at, lane, host, row_number() OVER (PARTITION BY lane ORDER BY due_at, id) AS place FROM due),
         share AS (
           SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY due_at, id) AS place FROM turn
            WHERE place <= CASE WHEN lane IN (SELECT unnest($5::text[])) THEN $6::int ELSE 1 END),
         picked AS (
           SELECT d.id FROM deliveries d JOIN share USING (id)
            WHERE d.due_at <= $1 AND d.status <> 'delivered'
              AND (share.host IS NULL OR share.place <= coalesce(($9::jsonb ->> share.host)::int, 1))
            ORDER BY d.due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
         UPDATE deliveries d SET due_at = $2, claim = $7, tries = d.tries + 1 FROM picked WHERE d.id = picked.id
         RETURNING d.*, (SELECT count(*) FROM due)::int AS looked_at`,
};
const KEEP = {
  name: 'delivery_keep',
  text: `WITH kept AS (
           SELECT d.id FROM deliveries d JOIN unnest($1::bigint[], $2::uuid[]) AS k(id, claim) USING (id, claim)
            ORDER BY d.id FOR UPDATE OF d)
         UPDATE deliveries SET due_at = greatest(due_at, $3) FROM kept WHERE deliveries.id = kept.id`,
};
// A send that delivered counts even where its lease had ended; what was delivered stays so.
const CONCLUDE = {
  name: 'delivery_conclude',
  text: `WITH r AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS r(id bigint, claim uuid, status text,
           due_at timestamptz, error text, needs_certificate boolean, host text)),
         own AS (SELECT d.id FROM deliveries d JOIN r USING (id) ORDER BY d.id FOR UPDATE OF d)
         UPDATE deliveries d SET status = r.status, due_at = r.due_at, last_error = r.error, claim = NULL,
           needs_certificate = r.needs_certificate, host = r.host,
           revision = d.revision + CASE WHEN d.status = r.status AND r.due_at IS NOT NULL THEN 0 ELSE 1 END
         FROM r JOIN own USING (id)
         WHERE d.id = r.id AND d.status <> 'delivered' AND (d.claim = r.claim OR r.status = 'delivered') RETURNING d.*`,
};
/**
 * What waits for its first look into the directory, and was there when the directory was asked and named no receiver for its
 * buyer: the answer is its answer too, so nobody claims each of thousands by itself. The next looks are spread over ten minutes.
 */
const ALIKE = {
  name: 'delivery_alike',
  text: `WITH answered AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS r(env text, buyer_rnc text, created_at timestamptz,
           due_at timestamptz, error text)),
         unasked AS (
           SELECT d.id, r.due_at + (d.id % 600) * interval '1 second' AS due_at, r.error
             FROM answered r JOIN deliveries d ON d.env = r.env AND d.buyer_rnc = r.buyer_rnc AND d.created_at <= r.created_at
            WHERE d.status = 'no_receiver' AND d.tries = 0 AND d.claim IS NULL
              AND d.deadline_at > r.due_at + interval '10 minutes'
            ORDER BY d.id FOR UPDATE OF d SKIP LOCKED)
         UPDATE deliveries d SET tries = 1, due_at = unasked.due_at, last_error = unasked.error, host = NULL
         FROM unasked WHERE d.id = unasked.id`,
};
const ACKNOWLEDGE = {
  name: 'acknowledgement_add',
  text: `INSERT INTO received_acknowledgements (env, issuer_rnc, encf, buyer_rnc, receipt_status, rejection_code,
           acknowledged_at, received_at, valid, validation_error, xml_path, xml_sha256, held)
         SELECT env, issuer_rnc, encf, buyer_rnc, receipt_status, rejection_code, acknowledged_at, received_at, valid,
           validation_error, xml_path, xml_sha256, decode(held, 'base64')
           FROM json_to_recordset($1::json) AS r(env text, issuer_rnc text, encf text, buyer_rnc text,
           receipt_status smallint, rejection_code smallint, acknowledged_at timestamptz, received_at timestamptz,
           valid boolean, validation_error text, xml_path text, xml_sha256 text, held text)
         ORDER BY env, issuer_rnc, encf, xml_sha256
         ON CONFLICT (env, issuer_rnc, encf, xml_sha256) DO NOTHING`,
};
const DEFER = {
  name: 'delivery_defer',
  text: `WITH r AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS r(id bigint, claim uuid, host text, due_at timestamptz)),
         own AS (SELECT d.id FROM deliveries d JOIN r USING (id, claim) ORDER BY d.id FOR UPDATE OF d)
         UPDATE deliveries d SET due_at = r.due_at, claim = NULL, tries = d.tries - 1, host = r.host
         FROM r JOIN own USING (id) WHERE d.id = r.id AND d.claim = r.claim`,
};
/** So many at once; the rest follows. */
const GIVEN_UP_AT_ONCE = 500;
const GIVE_UP = {
  name: 'delivery_give_up',
  text: `WITH over AS (
           SELECT id FROM deliveries WHERE due_at <= $1 AND deadline_at <= $1
              AND (env || ':' || buyer_rnc IN (SELECT unnest($2::text[])) OR env || ':' || host IN (SELECT unnest($3::text[])))
            ORDER BY id LIMIT ${GIVEN_UP_AT_ONCE} FOR UPDATE SKIP LOCKED)
         UPDATE deliveries d SET status = 'failed', due_at = NULL, claim = NULL, needs_certificate = false,
           revision = d.revision + 1, last_error = coalesce(d.last_error, $4)
         FROM over WHERE d.id = over.id RETURNING d.*`,
};
const FIND = { name: 'delivery_find', text: 'SELECT * FROM deliveries WHERE id = ANY($1::bigint[])' };
const RESUME = {
  name: 'delivery_resume',
  text: `UPDATE deliveries SET due_at = $2, needs_certificate = false
          WHERE issuer_rnc = $1 AND needs_certificate AND claim IS NULL AND due_at > $2`,
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
const HELD = {
  name: 'acknowledgement_held',
  text: `SELECT id, xml_path AS path, held AS bytes FROM received_acknowledgements
          WHERE held IS NOT NULL AND id > $1 ORDER BY id LIMIT $2`,
};
const RELEASE = {
  name: 'acknowledgement_release',
  text: 'UPDATE received_acknowledgements SET held = NULL WHERE id = ANY($1::bigint[])',
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
  text: `UPDATE deliveries SET due_at = $4, deadline_at = $5, claim = NULL, tries = 0, needs_certificate = false, host = NULL,
           status = CASE WHEN status = 'unacknowledged' THEN status ELSE 'pending' END,
           revision = revision + CASE WHEN status IN ('pending', 'unacknowledged') THEN 0 ELSE 1 END
         WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 AND status <> 'delivered' AND (status <> 'not_required' OR $6::boolean)
         RETURNING *`,
};

/** A row of `deliveries`. */
export interface DeliveryRow {
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
  host: string | null;
}

interface Adding {
  readonly delivery: NewDelivery;
  readonly eventId: string;
}

interface Concluding {
  readonly delivery: ClaimedDelivery;
  readonly conclusion: HostedConclusion;
}

interface Deferring {
  readonly delivery: ClaimedDelivery;
  readonly host: string;
  readonly now: Date;
}

/** One at a time: what comes meanwhile shares the next transaction. */
const BATCH = { maxItems: 100, maxUnderWay: 1 };

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
  held: Buffer | null;
}

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
      const rows = items.map(({ delivery: { id, claim }, host, now }) => ({ id, claim, host, due_at: now }));
      await database.query(DEFER, [JSON.stringify(rows)]);
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
    const { rows } = await tx.query<DeliveryRow>(ADD, [JSON.stringify(news.map(({ delivery }) => newRow(delivery)))]);
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
    const { rows } = await tx.query<DeliveryRow>(CONCLUDE, [JSON.stringify(items.map(concludingRow))]);
    const acknowledgements = items.flatMap(({ conclusion }) => conclusion.acknowledgement ?? []);
    if (acknowledgements.length > 0)
      await tx.query(ACKNOWLEDGE, [JSON.stringify(acknowledgements.map(acknowledgementRow))]);
    const concluded = new Map(rows.map((row) => [row.id, row]));
    const absent = rows.filter(({ status, due_at }) => status === 'no_receiver' && due_at !== null);
    if (absent.length > 0) await tx.query(ALIKE, [JSON.stringify(latestOfEachBuyer(absent))]);
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
      for (const row of (await tx.query<DeliveryRow>(FIND, [others])).rows) concluded.set(row.id, row);
    return items.map(({ delivery: { id } }) => {
      const row = concluded.get(id);
      if (row === undefined) throw new Unwritable(`the delivery ${id} is gone`);
      return fromRow(row);
    });
  }

  return {
    add: (delivery, eventId) => adding.run({ delivery, eventId }),
    async claimDue({ now, lapsedBy, until, limit, blocked, proven, perLane, blockedHosts, roomyHosts }) {
      const { rows } = await database.query<DeliveryRow & { looked_at: number }>(CLAIM, [
        now,
        until,
        limit,
        blocked,
        proven,
        perLane,
        randomUUID(),
        blockedHosts,
        JSON.stringify(roomyHosts),
        lapsedBy,
      ]);
      const claimed = rows.map((row): ClaimedDelivery => ({ ...fromRow(row), claim: row.claim as string }));
      return { claimed, crowded: rows[0]?.looked_at === LOOKED_AT };
    },
    async keep(claims, until) {
      await database.query(KEEP, [claims.map(({ id }) => id), claims.map(({ claim }) => claim), until]);
    },
    conclude: (delivery, conclusion) => concluding.run({ delivery, conclusion }).catch(unwritable),
    defer: (delivery, host, now) => deferring.run({ delivery, host, now }),
    retry: (key, now, deadlineAt, deliver45) =>
      database.transaction(async (tx) => {
        const before = await tx.query<DeliveryRow>(
          'SELECT * FROM deliveries WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 FOR UPDATE',
          keyValues(key),
        );
        const [present] = before.rows;
        if (present === undefined) return null;
        const { rows } = await tx.query<DeliveryRow>(RETRY, [...keyValues(key), now, deadlineAt, deliver45]);
        const row = rows[0] ?? present;
        if (row.revision !== present.revision) await appendToOutbox(tx, [event(row, now)]);
        return fromRow(row);
      }),
    giveUp: ({ now, lanes, hosts }) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query<DeliveryRow>(GIVE_UP, [now, lanes, hosts, NEVER_REACHED]);
        await appendToOutbox(
          tx,
          rows.map((row) => event(row, now)),
        );
        return rows.map(fromRow);
      }),
    async resume(issuerRnc, now) {
      return (await database.query(RESUME, [issuerRnc, now])).rowCount;
    },
    async list({ env, status, issuer_rnc, buyer_rnc, encf, before, limit }) {
      const filter = [env, status, issuer_rnc, buyer_rnc, encf, before].map((value) => value ?? null);
      const { rows } = await database.query<DeliveryRow>(LIST, [...filter, limit]);
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
      async held(after, limit) {
        return (await database.query<HeldAcknowledgement>(HELD, [after, limit])).rows;
      },
      async release(ids) {
        await database.query(RELEASE, [ids]);
      },
    },
  };
}

/** As `json_to_recordset` reads it. */
function newRow({
  key,
  buyerRnc,
  accountId,
  xml,
  status,
  createdAt,
  deadlineAt,
  dueAt,
  traceparent,
  host,
}: NewDelivery) {
  return {
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: buyerRnc,
    account_id: accountId,
    xml_path: xml.path,
    xml_sha256: xml.sha256,
    status,
    created_at: createdAt,
    deadline_at: deadlineAt,
    due_at: dueAt,
    traceparent,
    host,
  };
}

function concludingRow({ delivery, conclusion }: Concluding) {
  const { status, dueAt, error, needsCertificate, host } = conclusion;
  return {
    id: delivery.id,
    claim: delivery.claim,
    status,
    due_at: dueAt,
    error: storable(error),
    needs_certificate: needsCertificate,
    host,
  };
}

/** The directory was asked for each after it came, so the latest covers all before it. */
function latestOfEachBuyer(rows: readonly DeliveryRow[]): Record<string, unknown>[] {
  const latest = new Map<string, DeliveryRow>();
  for (const row of rows) {
    const lane = `${row.env}:${row.buyer_rnc}`;
    const known = latest.get(lane);
    if (known === undefined || known.created_at < row.created_at) latest.set(lane, row);
  }
  return [...latest.values()].map(({ env, buyer_rnc, created_at, due_at, last_error }) => ({
    env,
    buyer_rnc,
    created_at,
    due_at,
    error: last_error,
  }));
}

/** The present state as others hear of it. */
export function deliveryChanged(row: DeliveryRow): DeliveryChanged {
  return {
    env: row.env,
    issuer_rnc: row.issuer_rnc,
    encf: row.encf,
    buyer_rnc: row.buyer_rnc,
    revision: row.revision,
    delivery_status: row.status,
    final: row.due_at === null,
  };
}

function event(row: DeliveryRow, now: Date): BusEvent {
  const data = deliveryChanged(row);
  return makeEvent(
    {
      topic: TOPICS.deliveries.name,
      type: 'delivery.changed',
      source: 'approvals',
      subject: `${data.issuer_rnc}:${data.encf}`,
      key: documentKey(data),
      data,
    },
    // Many deliveries are written down in one transaction, each of a trace of its own.
    { id: randomUUID(), time: now, traceparent: row.traceparent },
  );
}

function keyValues({ env, issuerRnc, encf }: DeliveryKey): [string, string, string] {
  return [env, issuerRnc, encf];
}

function acknowledgementRow(acknowledgement: NewAcknowledgement) {
  const { key, xml, fault, held } = acknowledgement;
  return {
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: acknowledgement.buyerRnc,
    receipt_status: acknowledgement.receiptStatus,
    rejection_code: acknowledgement.motive,
    acknowledged_at: acknowledgement.acknowledgedAt,
    received_at: acknowledgement.receivedAt,
    valid: fault === null,
    validation_error: storable(fault),
    xml_path: xml.path,
    xml_sha256: xml.sha256,
    held: held === null ? null : Buffer.from(held).toString('base64'),
  };
}

/** What others sent is told in some of these texts; PostgreSQL takes neither NUL nor half a surrogate pair. */
function storable(text: string | null): string | null {
  return text === null ? null : Buffer.from(text).toString().replaceAll('\u0000', '\ufffd');
}

function fromRow(row: DeliveryRow): Delivery {
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
    host: row.host,
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
    held: row.held,
  };
}
