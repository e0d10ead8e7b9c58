import type { Database, Queries } from '@ecf/service-kit/postgres';
import { type IssuedInvoice, invoiceKey } from '../core/invoices/issued-invoice.js';
import type { ReceivedRecord } from '../core/invoices/received-record.js';
import type { Projection } from '../core/ports.js';
import { type Counted, RollupChanges } from '../core/sums/rollups.js';
import { TAKE_LOCKS } from './locks.js';
import {
  ADD_BUYER_SUMS,
  ADD_INVOICE_SUMS,
  KEEP_CHANGES,
  KEEP_INVOICES,
  KEEP_RECEIVED,
  PRESENT,
} from './projection-sql.js';

interface PresentRow {
  env: string;
  issuer_rnc: string;
  encf: string;
  revision: number;
  listed: boolean;
  ecf_type: IssuedInvoice['ecfType'];
  status: IssuedInvoice['status'];
  buyer_rnc: string | null;
  date_issued: string;
  created_at: Date;
  total_amount: string;
  total_itbis: string;
}

/** Keeps documents and their sums in one transaction. The highest revision wins, so repeated and late events change nothing. */
export function createPostgresProjection(database: Database): Projection {
  return {
    async keepInvoices(given) {
      const items = latest(given, invoiceKey);
      const issuers = [...new Set(items.map(({ env, issuerRnc }) => `${env}:${issuerRnc}`))].sort();
      await database.transaction(async (tx) => {
        await tx.query(TAKE_LOCKS, [issuers]);
        const newer = await replace(tx, items);
        if (newer.length > 0) await tx.query(KEEP_CHANGES, [JSON.stringify(newer.map(changeRow))]);
      });
    },
    async keepReceived(given) {
      const items = latest(given, receivedKey);
      const rows = items.sort((one, other) => (receivedKey(one) < receivedKey(other) ? -1 : 1)).map(receivedRow);
      await database.query(KEEP_RECEIVED, [JSON.stringify(rows)]);
    },
  };
}

/**
 * Replaces older documents and changes the sums by the difference. The caller holds the locks of the issuers.
 *
 * @returns the documents that were newer
 */
async function replace(tx: Queries, items: readonly IssuedInvoice[]): Promise<IssuedInvoice[]> {
  const present = await presentOf(tx, items);
  const newer = items.filter((item) => (present.get(invoiceKey(item))?.revision ?? 0) < item.revision);
  if (newer.length === 0) return newer;
  const changes = new RollupChanges();
  for (const item of newer) changes.replace(present.get(invoiceKey(item)) ?? null, item);
  await tx.query(KEEP_INVOICES, [JSON.stringify(newer.map(invoiceRow))]);
  for (const [statement, rows] of [
    [ADD_INVOICE_SUMS, changes.invoices()],
    [ADD_BUYER_SUMS, changes.buyers()],
  ] as const) {
    if (rows.length > 0) await tx.query(statement, [JSON.stringify(rows)]);
  }
  return newer;
}

async function presentOf(tx: Queries, items: readonly IssuedInvoice[]) {
  const { rows } = await tx.query<PresentRow>(PRESENT, [
    items.map(({ env }) => env),
    items.map(({ issuerRnc }) => issuerRnc),
    items.map(({ encf }) => encf),
  ]);
  return new Map<string, Counted & { revision: number }>(
    rows.map((row) => [
      invoiceKey({ env: row.env, issuerRnc: row.issuer_rnc, encf: row.encf }),
      {
        env: row.env,
        issuerRnc: row.issuer_rnc,
        revision: row.revision,
        listed: row.listed,
        ecfType: row.ecf_type,
        status: row.status,
        buyerRnc: row.buyer_rnc,
        dateIssued: row.date_issued,
        createdAt: row.created_at,
        totalAmount: row.total_amount,
        totalItbis: row.total_itbis,
      },
    ]),
  );
}

function latest<I extends { revision: number }>(items: readonly I[], keyOf: (item: I) => string): I[] {
  const found = new Map<string, I>();
  for (const item of items) {
    const key = keyOf(item);
    if ((found.get(key)?.revision ?? 0) < item.revision) found.set(key, item);
  }
  return [...found.values()];
}

function receivedKey({ env, encf, issuerRnc, buyerRnc }: ReceivedRecord): string {
  return `${env}:${encf}:${issuerRnc}:${buyerRnc}`;
}

function changeRow({ env, encf, issuerRnc, revision }: IssuedInvoice) {
  return { env, encf, issuer_rnc: issuerRnc, revision };
}

function invoiceRow(invoice: IssuedInvoice): Record<string, unknown> {
  return {
    env: invoice.env,
    encf: invoice.encf,
    issuer_rnc: invoice.issuerRnc,
    id: invoice.id,
    revision: invoice.revision,
    listed: invoice.listed,
    settled: invoice.settled,
    ecf_type: invoice.ecfType,
    route: invoice.route,
    status: invoice.status,
    code: invoice.code,
    messages: invoice.messages,
    sequence_used: invoice.sequenceUsed,
    track_id: invoice.trackId,
    buyer_rnc: invoice.buyerRnc,
    buyer_name: invoice.buyerName,
    date_issued: invoice.dateIssued,
    created_at: invoice.createdAt,
    signed_at: invoice.signedAt,
    total_amount: invoice.totalAmount,
    total_itbis: invoice.totalItbis,
    modified_encf: invoice.modifiedEncf,
    reference: invoice.reference,
    submitted_by: invoice.submittedBy,
    request_id: invoice.requestId,
    security_code: invoice.securityCode,
    qr_url: invoice.qrUrl,
    xml_path: invoice.xmlPath,
    xml_checksum: invoice.xmlChecksum,
    rfce_path: invoice.rfcePath,
    rfce_checksum: invoice.rfceChecksum,
    attempts: invoice.attempts,
  };
}

function receivedRow(received: ReceivedRecord): Record<string, unknown> {
  return {
    env: received.env,
    encf: received.encf,
    issuer_rnc: received.issuerRnc,
    buyer_rnc: received.buyerRnc,
    id: received.id,
    revision: received.revision,
    date_received: received.dateReceived,
    xml_path: received.xml.path,
    xml_checksum: received.xml.checksum,
    conflicts: received.conflicts,
  };
}
