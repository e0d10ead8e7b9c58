import { randomUUID } from 'node:crypto';
import { type DeliveryChanged, documentKey, TOPICS } from '@ecf/contracts';
import { environmentRun, storedEnvironment } from '@ecf/domain';
import { type BusEvent, makeEvent } from '@ecf/service-kit/bus';
import type { Delivery, DeliveryKey, DeliveryStatus, NewDelivery } from './delivery.js';

/** A row of `deliveries`. */
export interface DeliveryRow {
  id: number;
  /** With the certification run. */
  env: string;
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

/** A new delivery, for `json_populate_recordset(NULL::deliveries)`. */
export function newRow({ key, xml, ...delivery }: NewDelivery): object {
  return {
    env: storedEnvironment({ env: key.env, run: key.run ?? 1 }),
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: delivery.buyerRnc,
    account_id: delivery.accountId,
    xml_path: xml.path,
    xml_sha256: xml.sha256,
    status: delivery.status,
    created_at: delivery.createdAt,
    deadline_at: delivery.deadlineAt,
    due_at: delivery.dueAt,
    traceparent: delivery.traceparent,
    host: delivery.host,
  };
}

/** The present state as it is published. */
export function deliveryChanged(row: DeliveryRow): DeliveryChanged {
  return {
    ...environmentRun(row.env),
    issuer_rnc: row.issuer_rnc,
    encf: row.encf,
    buyer_rnc: row.buyer_rnc,
    revision: row.revision,
    delivery_status: row.status,
    final: row.due_at === null,
  };
}

/** `delivery.changed` with the present state. */
export function event(row: DeliveryRow, now: Date): BusEvent {
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
    // `giveUp` publishes deliveries of several traces at once.
    { id: randomUUID(), time: now, traceparent: row.traceparent },
  );
}

/** The parameters of a statement that name a delivery. */
export function keyValues({ env, issuerRnc, encf }: DeliveryKey): [string, string, string] {
  return [env, issuerRnc, encf];
}

export function fromRow(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    key: { ...environmentRun(row.env), issuerRnc: row.issuer_rnc, encf: row.encf },
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
