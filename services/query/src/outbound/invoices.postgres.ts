import { dominicanDays } from '@ecf/domain';
import { columnOf } from '@ecf/service-kit/listings';
import type { Database } from '@ecf/service-kit/postgres';
import type { IssuedInvoice, Outcome } from '../core/invoices/issued-invoice.js';
import type { ReceivedRecord, StoredXml } from '../core/invoices/received-record.js';
import type { InvoiceFilter, InvoiceStore, Page, Place, ReceivedStore, ShownInvoice } from '../core/ports.js';
import type { ClientSums, InvoiceSums } from '../core/sums/aggregate.js';
import { monthsAndDays } from '../core/sums/periods.js';
import { BY_NUMBER, COUNT, FIND, RECEIVED_BY_NUMBER, SKIP_DAYS, SUMS } from './invoices-sql.js';
import { isPlain, listQuery } from './list-sql.js';

/** From this offset on, the sums of days give the place of the page. */
const FAR_OFFSET = 1_000;

interface InvoiceRow {
  env: IssuedInvoice['env'];
  encf: string;
  issuer_rnc: string;
  id: number;
  revision: number;
  listed: boolean;
  settled: boolean;
  ecf_type: IssuedInvoice['ecfType'];
  route: IssuedInvoice['route'];
  status: IssuedInvoice['status'];
  code: string | null;
  messages: IssuedInvoice['messages'];
  sequence_used: boolean | null;
  track_id: string | null;
  buyer_rnc: string | null;
  buyer_name: string | null;
  date_issued: string;
  created_at: Date;
  signed_at: Date;
  total_amount: string;
  total_itbis: string;
  modified_encf: string | null;
  reference: string | null;
  submitted_by: string | null;
  request_id: string | null;
  security_code: string;
  qr_url: string;
  xml_path: string;
  xml_checksum: string;
  rfce_path: string | null;
  rfce_checksum: string | null;
  attempts: IssuedInvoice['attempts'];
}

type ShownRow = InvoiceRow & Outcome;

/** The read models of issued documents in PostgreSQL. */
export function createPostgresInvoices(database: Database): InvoiceStore {
  async function startOf(filter: InvoiceFilter, page: Page) {
    const { offset } = page;
    const { until } = dominicanDays(filter.first, filter.last);
    if (offset <= FAR_OFFSET || filter.period !== 'created' || !isPlain(page)) return { until, offset };
    const { rows } = await database.query<{ before: number; until: Date }>(SKIP_DAYS, [...ofDays(filter), offset]);
    const [found] = rows;
    return found === undefined ? null : { until: found.until, offset: offset - found.before };
  }

  return {
    async list(filter, page) {
      // A page beyond the end has only the total.
      const { statement, values } = listQuery(filter, page, await startOf(filter, page));
      const { rows } = await database.query<ShownRow & { total: number }>(statement, values);
      const total = rows[0]?.total ?? 0;
      const found = rows.filter((row) => row.encf !== null);
      const shown = found.slice(0, page.limit);
      const last = found.length > shown.length ? shown.at(-1) : undefined;
      return { total, invoices: shown.map(shownInvoice), next: last === undefined ? null : placeOf(last, page, total) };
    },
    async count(filter) {
      const { rows } = await database.query<{ total: number }>(COUNT, ofDays(filter));
      return rows[0]?.total ?? 0;
    },
    async sums(filter, topClients) {
      const stretches = monthsAndDays(filter.first, filter.last);
      const { rows } = await database.query<{ invoices: InvoiceSums[]; clients: ClientSums[] }>(SUMS[filter.period], [
        ...ofDays(filter),
        stretches.map(({ grain }) => grain),
        stretches.map(({ first }) => first),
        stretches.map(({ last }) => last),
        topClients,
      ]);
      return rows[0] ?? { invoices: [], clients: [] };
    },
    async find({ env, issuerRnc, encf }) {
      const { rows } = await database.query<ShownRow>(FIND, [env, issuerRnc, encf]);
      return rows[0] === undefined ? null : shownInvoice(rows[0]);
    },
    async byNumber(issuers, encf) {
      const { rows } = await database.query<InvoiceRow>(BY_NUMBER, [
        issuers.map(({ env }) => env),
        encf,
        issuers.map(({ issuerRnc }) => issuerRnc),
      ]);
      return rows.map(fromRow);
    },
  };
}

/** The read models of received documents in PostgreSQL. */
export function createPostgresReceived(database: Database): ReceivedStore {
  return {
    async byNumber({ env, buyerRncs, issuerRnc, encf }) {
      const { rows } = await database.query<ReceivedRow>(RECEIVED_BY_NUMBER, [env, encf, buyerRncs, issuerRnc]);
      return rows.map(receivedFrom);
    },
  };
}

function ofDays({ env, issuerRnc, period, first, last }: InvoiceFilter): unknown[] {
  return [env, issuerRnc, period, first, last];
}

function placeOf(row: ShownRow, { sort }: Page, total: number): Place {
  const value = columnOf(sort) === 'created_at' ? row.created_at.toISOString() : row.total_amount;
  return { value, id: row.id, total };
}

function shownInvoice(row: ShownRow): ShownInvoice {
  return { ...fromRow(row), delivery: row.delivery, decision: row.decision, confirmed: row.confirmed };
}

function fromRow(row: InvoiceRow): IssuedInvoice {
  return {
    env: row.env,
    issuerRnc: row.issuer_rnc,
    encf: row.encf,
    id: row.id,
    revision: row.revision,
    listed: row.listed,
    settled: row.settled,
    ecfType: row.ecf_type,
    route: row.route,
    status: row.status,
    code: row.code,
    messages: row.messages,
    sequenceUsed: row.sequence_used,
    trackId: row.track_id,
    buyerRnc: row.buyer_rnc,
    buyerName: row.buyer_name,
    dateIssued: row.date_issued,
    createdAt: row.created_at,
    signedAt: row.signed_at,
    totalAmount: row.total_amount,
    totalItbis: row.total_itbis,
    modifiedEncf: row.modified_encf,
    reference: row.reference,
    submittedBy: row.submitted_by,
    requestId: row.request_id,
    securityCode: row.security_code,
    qrUrl: row.qr_url,
    xmlPath: row.xml_path,
    xmlChecksum: row.xml_checksum,
    rfcePath: row.rfce_path,
    rfceChecksum: row.rfce_checksum,
    attempts: row.attempts,
  };
}

interface ReceivedRow {
  env: ReceivedRecord['env'];
  encf: string;
  issuer_rnc: string;
  buyer_rnc: string;
  id: number;
  revision: number;
  date_received: Date;
  xml_path: string;
  xml_checksum: string;
  conflicts: StoredXml[];
}

function receivedFrom(row: ReceivedRow): ReceivedRecord {
  return {
    env: row.env,
    encf: row.encf,
    issuerRnc: row.issuer_rnc,
    buyerRnc: row.buyer_rnc,
    id: row.id,
    revision: row.revision,
    dateReceived: row.date_received,
    xml: { path: row.xml_path, checksum: row.xml_checksum },
    conflicts: row.conflicts,
  };
}
