import { randomUUID } from 'node:crypto';
import { type DeliveryChanged, documentKey, TOPICS } from '@ecf/contracts';
import { type Environment, storableText } from '@ecf/domain';
import { type BusEvent, makeEvent } from '@ecf/service-kit/bus';
import type {
  ClaimedDelivery,
  Delivery,
  DeliveryKey,
  DeliveryStatus,
  NewDelivery,
} from '../core/deliveries/delivery.js';
import type { HostedConclusion } from '../core/deliveries/delivery-ports.js';

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

/** How an attempt ended, of which delivery. */
export interface Concluding {
  readonly delivery: ClaimedDelivery;
  readonly conclusion: HostedConclusion;
}

/** As `json_to_recordset` reads it. */
export function newRow({
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

/** As `json_to_recordset` reads it. */
export function concludingRow({ delivery, conclusion }: Concluding) {
  const { status, dueAt, error, needsCertificate, host } = conclusion;
  return {
    id: delivery.id,
    claim: delivery.claim,
    status,
    due_at: dueAt,
    error: error === null ? null : storableText(error),
    needs_certificate: needsCertificate,
    host,
  };
}

/** The directory was asked for each after it came, so the latest covers all before it. */
export function latestOfEachBuyer(rows: readonly DeliveryRow[]): Record<string, unknown>[] {
  const latest = new Map<string, DeliveryRow>();
  for (const row of rows) {
    const buyer = `${row.env}:${row.buyer_rnc}`;
    const known = latest.get(buyer);
    if (known === undefined || known.created_at < row.created_at) latest.set(buyer, row);
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
    // Many deliveries are written down in one transaction, each of a trace of its own.
    { id: randomUUID(), time: now, traceparent: row.traceparent },
  );
}

/** As statements name a delivery. */
export function keyValues({ env, issuerRnc, encf }: DeliveryKey): [string, string, string] {
  return [env, issuerRnc, encf];
}

export function fromRow(row: DeliveryRow): Delivery {
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
