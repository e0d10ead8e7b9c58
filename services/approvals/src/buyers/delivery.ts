import type { DeliveryBody, InvoiceChanged } from '@ecf/contracts';
import { goesToBuyer, toIsoDominican } from '@ecf/domain';
import type { Endpoints } from '../sending/endpoints.js';
import type { DeliveryStatus, Outgoing } from '../sending/outgoing.js';

export type { DeliveryStatus } from '../sending/outgoing.js';

/** An accepted e-CF to be delivered to its buyer. */
export interface NewDelivery
  extends Pick<Outgoing, 'key' | 'buyerRnc' | 'accountId' | 'xml' | 'createdAt' | 'dueAt' | 'traceparent' | 'host'> {
  readonly status: 'pending' | 'no_receiver' | 'not_required';
  readonly deadlineAt: Date;
}

/** A delivery and its present state. */
export interface Delivery extends Outgoing {
  readonly status: DeliveryStatus;
  readonly deadlineAt: Date;
}

/** What {@link deliveryOf} needs. */
export interface NewDeliveryParts {
  readonly settings: { readonly deliver45: boolean; readonly deadlineMs: number };
  readonly endpoints: Pick<Endpoints, 'missedUntil' | 'knownHost'>;
  readonly clock: () => Date;
  readonly random: () => number;
}

/** Spreads the look-ups of documents that came while the buyer was known to have no receiver. */
const AFTER_MISS_MS = 5_000;

/** Accepted by the receiver standard, though the authority's own test receiver refuses it: delivered on request only. */
const ON_REQUEST = '45';

/** The delivery of a document; null if it is not delivered or not accepted (yet). */
export function deliveryOf(
  invoice: InvoiceChanged,
  { settings, endpoints, clock, random }: NewDeliveryParts,
  traceparent: string | null,
): NewDelivery | null {
  const accepted = invoice.final && (invoice.status === 'Aceptado' || invoice.status === 'AceptadoCondicional');
  const { route, ecf_type: ecfType, buyer_rnc: buyerRnc } = invoice;
  if (!accepted || buyerRnc === null || !goesToBuyer({ route, ecfType, buyerRnc })) return null;
  const now = clock();
  const created = {
    key: { env: invoice.env, issuerRnc: invoice.issuer_rnc, encf: invoice.encf, run: invoice.run ?? 1 },
    buyerRnc,
    accountId: invoice.account_id,
    xml: { path: invoice.xml_storage_path, sha256: invoice.xml_checksum },
    createdAt: now,
    deadlineAt: new Date(now.getTime() + settings.deadlineMs),
    traceparent,
    host: endpoints.knownHost(invoice.env, buyerRnc),
  };
  if (ecfType === ON_REQUEST && !settings.deliver45) return { ...created, status: 'not_required', dueAt: null };
  const missedUntil = endpoints.missedUntil(invoice.env, buyerRnc);
  if (missedUntil === null) return { ...created, status: 'pending', dueAt: now };
  return { ...created, status: 'no_receiver', dueAt: new Date(missedUntil.getTime() + random() * AFTER_MISS_MS) };
}

/** The record as operators see it. */
export function deliveryBody(delivery: Delivery): DeliveryBody {
  const { key } = delivery;
  return {
    id: delivery.id,
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: delivery.buyerRnc,
    account_id: delivery.accountId,
    delivery_status: delivery.status,
    tries: delivery.tries,
    last_error: delivery.lastError,
    created_at: toIsoDominican(delivery.createdAt),
    due_at: delivery.dueAt === null ? null : toIsoDominican(delivery.dueAt),
    deadline_at: toIsoDominican(delivery.deadlineAt),
  };
}
