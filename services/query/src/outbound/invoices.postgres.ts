import { dominicanDays } from '@ecf/domain';
import type { Database } from '@ecf/service-kit/postgres';
import type { IssuedInvoice, Outcome } from '../core/invoices/issued-invoice.js';
import type { ReceivedRecord, StoredXml } from '../core/invoices/received-record.js';
import type { InvoiceFilter, InvoiceStore, ReceivedStore, ShownInvoice } from '../core/ports.js';
import type { ClientSums, InvoiceSums } from '../core/sums/aggregate.js';
import { monthsAndDays, runningStretches, type Stretch } from '../core/sums/periods.js';
import { BY_NUMBER, COUNT, FIND, LIST, RECEIVED_BY_NUMBER, REVISIONS, SKIP_DAYS, SUMS } from './invoices-sql.js';

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
  async function skipDays(filter: InvoiceFilter, offset: number, until: Date) {
    if (offset <= FAR_OFFSET) return { until, offset };
    const { rows } = await database.query<{ before: number; until: Date }>(SKIP_DAYS, [
      filter.env,
      filter.issuerRnc,
      filter.first,
      filter.last,
      offset,
    ]);
    const [found] = rows;
    return found === undefined ? null : { until: found.until, offset: offset - found.before };
  }

  return {
    async list(filter, { limit, offset }) {
      const { from, until } = dominicanDays(filter.first, filter.last);
      const start = await skipDays(filter, offset, until);
      // A page beyond the end has only the total.
      const page = start === null ? [from, until, 0, 0] : [from, start.until, limit, start.offset];
      const { rows } = await database.query<ShownRow & { total: number }>(LIST, [...overMonths(filter), ...page]);
      const shown = rows.filter((row) => row.encf !== null);
      return { total: rows[0]?.total ?? 0, invoices: shown.map(shownInvoice) };
    },
    async count(filter) {
      const { rows } = await database.query<{ total: number }>(COUNT, overMonths(filter));
      return rows[0]?.total ?? 0;
    },
    async sums(filter, topClients) {
      const byBuyer = runningStretches(filter.first, filter.last);
      const { rows } = await database.query<{ invoices: InvoiceSums[]; clients: ClientSums[] }>(SUMS, [
        ...overMonths(filter),
        ...columns(byBuyer),
        byBuyer.map(({ before }) => before),
        byBuyer.map(({ through }) => through),
        filter.first,
        filter.last,
        topClients,
      ]);
      return rows[0] ?? { invoices: [], clients: [] };
    },
    async find({ env, issuerRnc, encf }) {
      const { rows } = await database.query<ShownRow>(FIND, [env, issuerRnc, encf]);
      return rows[0] === undefined ? null : shownInvoice(rows[0]);
    },
    async byNumber(env, issuerRncs, encf) {
      const { rows } = await database.query<InvoiceRow>(BY_NUMBER, [env, encf, issuerRncs]);
      return rows.map(fromRow);
    },
    async revisions({ env, issuerRnc }, encfs) {
      const { rows } = await database.query<{ encf: string; revision: number }>(REVISIONS, [env, issuerRnc, encfs]);
      return new Map(rows.map(({ encf, revision }) => [encf, revision]));
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

function overMonths(filter: InvoiceFilter): unknown[] {
  return [filter.env, filter.issuerRnc, ...columns(monthsAndDays(filter.first, filter.last))];
}

function columns(stretches: readonly Stretch[]): [string[], string[], string[]] {
  return [stretches.map(({ grain }) => grain), stretches.map(({ first }) => first), stretches.map(({ last }) => last)];
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
