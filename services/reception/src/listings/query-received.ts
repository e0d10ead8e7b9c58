import type { DocumentReader } from '@ecf/archive';
import type {
  AllReceivedInvoices,
  AuthorityStatus,
  Period,
  ReceivedInvoice,
  ReceivedInvoiceAggregate,
  ReceivedInvoiceConflict,
  ReceivedInvoicesCount,
  ReceivedInvoicesList,
} from '@ecf/contracts';
import { type CalendarDate, dominicanDays, type Environment, formatDocumentDate, toIsoDominican } from '@ecf/domain';
import type { PrintRequest } from '@ecf/printed-form';
import type { Printing } from '@ecf/public-ingress/printing';
import { shownSigner } from '@ecf/public-ingress/signed-document';
import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { ReceptionError } from '../errors.js';
import { signerOf, type UnkeptConflict } from '../receive/received-document.js';
import { approvalDaysLeft } from './approval-deadline.js';
import type {
  ListedDocument,
  ListingStore,
  NumberSearch,
  Page,
  Place,
  ReceivedCriteria,
  ReceivedFilter,
} from './ports.js';

/** A period of days, both included: Dominican days of receipt, or dates of issue. */
export interface PeriodQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly buyerRnc: string;
  readonly period: Period;
  readonly first: CalendarDate;
  readonly last: CalendarDate;
  /** Null = any. */
  readonly authorityStatus: AuthorityStatus | null;
}

/** A received document by its number. */
interface NumberQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly buyerRnc: string;
  readonly encf: string;
  /** Null = any provider that used the number. */
  readonly providerRnc: string | null;
}

interface AcknowledgementQuery extends Pick<NumberQuery, 'caller' | 'env' | 'encf'> {
  readonly issuerRnc: string;
  /** Null = any taxpayer of the account. */
  readonly buyerRnc: string | null;
}

/** A page of a period's documents. */
export type PageQuery = PeriodQuery & Page & { readonly criteria: ReceivedCriteria };

/** A received invoice as it is shown. Its amount is still a text with two decimals: a number may not hold its cents. */
export type ShownInvoice = Omit<ReceivedInvoice, 'total_amount'> & { readonly total_amount: string };
type Shown<L extends { invoices: unknown }> = Omit<L, 'invoices' | 'next_cursor'> & {
  readonly invoices: readonly ShownInvoice[];
  readonly next: Place | null;
};

interface QueryPorts extends AccountPorts {
  readonly listings: ListingStore;
  readonly archive: DocumentReader;
  readonly clock: () => Date;
  readonly toJson: (xml: Uint8Array) => Promise<string>;
  readonly print: Printing['print'];
}

/** A customer's queries about documents received for its taxpayers. Only documents with Estado 0 are listed. */
export function createQueryReceived(
  ports: QueryPorts,
  /** Days within which a document has to be answered; null = none are counted. */
  deadlineDays: number | null,
) {
  /** From one provider. Throws `not_found` if there are none at all in the period. */
  async function fromProvider(query: PageQuery & { providerRnc: string }): Promise<Shown<ReceivedInvoicesList>> {
    const { count, total, invoices, ...rest } = await page(query, query.providerRnc);
    return { count, total, provider_rnc: query.providerRnc, ...rest, invoices };
  }

  /** From every provider. Throws `not_found` if there are none at all in the period. */
  function all(query: PageQuery): Promise<Shown<AllReceivedInvoices>> {
    return page(query, null);
  }

  /**
   * Number and sum of the documents; an empty period is not an error. Every document counts with the amount it states,
   * credit notes negative.
   */
  async function count(query: PeriodQuery): Promise<ReceivedInvoicesCount> {
    const { count, amount } = await ports.listings.totals(await filterOf(ports, query, null));
    return { total_invoices: count, total_amount: amount, ...period(query) };
  }

  /** Sums by month, type, status and provider; an empty period is not an error. Amounts count as in `count`. */
  async function aggregate(query: PeriodQuery & { readonly topProviders: number }): Promise<ReceivedInvoiceAggregate> {
    return {
      ...period(query),
      ...(await ports.listings.sums(await filterOf(ports, query, null), query.topProviders)),
    };
  }

  /** One document by its number. Throws `ambiguous` if several providers used it and none is named. */
  async function one(query: NumberQuery): Promise<ShownInvoice> {
    return shown(await find(query));
  }

  /** The same document in the JSON shape that is submitted, read from its stored bytes. */
  async function document(query: NumberQuery): Promise<string> {
    const { xmlPath, xmlSha256 } = await find(query);
    return ports.toJson(await ports.archive.get(xmlPath, xmlSha256));
  }

  /** The printed form of the same document. Throws `not_printable` if the authority rejected it. */
  async function pdf({
    format,
    signal,
    ...query
  }: NumberQuery & Pick<PrintRequest, 'format' | 'signal'>): Promise<Buffer> {
    const { xmlPath, xmlSha256, authorityStatus } = await find(query);
    if (authorityStatus === 'rejected')
      throw new ReceptionError('not_printable', `The authority rejected ${query.encf}, so it has no printed form.`);
    const xml = await ports.archive.get(xmlPath, xmlSha256);
    return ports.print({ xml, env: query.env, format, owner: query.caller.accountId, signal });
  }

  async function find(query: NumberQuery): Promise<ListedDocument> {
    await requireTaxpayer(ports, query.caller, query.buyerRnc);
    return only(ports.listings, {
      env: query.env,
      buyerRncs: [query.buyerRnc],
      issuerRnc: query.providerRnc,
      encf: query.encf,
    });
  }

  /**
   * The stored acknowledgement under a number: that of the received document, else of the latest refusal. Throws `ambiguous` if
   * several buyers of the account have one and the query names none.
   */
  async function acknowledgement(query: AcknowledgementQuery): Promise<Uint8Array> {
    const { caller, encf, issuerRnc, buyerRnc } = query;
    if (buyerRnc !== null) await requireTaxpayer(ports, caller, buyerRnc);
    const buyerRncs = buyerRnc === null ? await accountRncs(ports, caller) : [buyerRnc];
    const [stored, ...others] = await ports.listings.latestAcknowledgements({ ...query, buyerRncs });
    if (stored === undefined) {
      throw new ReceptionError('not_found', `No ${encf} of ${issuerRnc} was received for a taxpayer of this account.`);
    }
    if (others.length > 0) {
      throw new ReceptionError(
        'ambiguous',
        `Several taxpayers of this account were sent ${encf} of ${issuerRnc}; name one of them in the header buyer-rnc.`,
      );
    }
    return ports.archive.get(stored.path, stored.sha256);
  }

  async function page(query: PageQuery, providerRnc: string | null): Promise<Shown<AllReceivedInvoices>> {
    const filter = { ...(await filterOf(ports, query, providerRnc)), criteria: query.criteria };
    const total = query.place?.total ?? (await ports.listings.count(filter));
    if (total === 0)
      throw new ReceptionError('not_found', 'No received document of this period matches these criteria.');
    const { documents: listed, last } = await ports.listings.list(filter, query);
    return {
      count: listed.length,
      total,
      ...period(query),
      limit: query.limit,
      offset: query.offset,
      next: last && { ...last, total },
      invoices: listed.map((one) => shown(one)),
    };
  }

  function shown(listed: ListedDocument): ShownInvoice {
    if (deadlineDays === null) return receivedInvoice(listed);
    const left = approvalDaysLeft(listed, deadlineDays, ports.clock());
    return { ...receivedInvoice(listed), approval_days_left: left };
  }

  return { fromProvider, all, count, aggregate, one, document, pdf, acknowledgement };
}

export type QueryReceived = ReturnType<typeof createQueryReceived>;

/** The RNCs of an account, as of the caller's latest change. */
async function accountRncs(ports: AccountPorts, caller: Caller): Promise<string[]> {
  return (await readAccount(ports, caller)).taxpayers.map((taxpayer) => taxpayer.rnc);
}

/** Refuses an RNC that is not the account's, as if it did not exist. */
async function requireTaxpayer(ports: AccountPorts, caller: Caller, rnc: string): Promise<void> {
  if ((await accountRncs(ports, caller)).includes(rnc)) return;
  throw new ReceptionError('not_found', `${rnc} is not a taxpayer of this account.`, 'taxpayer');
}

async function filterOf(ports: QueryPorts, query: PeriodQuery, issuerRnc: string | null): Promise<ReceivedFilter> {
  await requireTaxpayer(ports, query.caller, query.buyerRnc);
  const { env, buyerRnc, authorityStatus } = query;
  const { first, last } = query;
  const issued = query.period === 'issued' ? { first, last } : null;
  return { env, buyerRnc, issuerRnc, authorityStatus, issued, ...dominicanDays(first, last) };
}

async function only(listings: ListingStore, search: NumberSearch): Promise<ListedDocument> {
  const [first, ...others] = await listings.byNumber(search);
  if (first === undefined) {
    throw new ReceptionError('not_found', `No ${search.encf} was received for these criteria.`);
  }
  if (others.some((other) => other.issuerRnc !== first.issuerRnc)) {
    throw new ReceptionError('ambiguous', `Several providers sent a ${search.encf}; name one of them.`);
  }
  return first;
}

/** A row of the listings. */
export function receivedInvoice(document: ListedDocument): ShownInvoice {
  const time = (at: Date | null) => (at === null ? null : toIsoDominican(at));
  return {
    id: document.id,
    encf: document.encf,
    ecf_type: document.ecfType,
    date_received: toIsoDominican(document.receivedAt),
    date_issued: document.dateIssued === null ? null : `${document.dateIssued}T00:00:00-04:00`,
    total_amount: document.totalAmount,
    provider_rnc: document.issuerRnc,
    provider_name: document.issuerName,
    buyer_rnc: document.buyerRnc,
    xml_storage_path: document.xmlPath,
    signer: shownSigner(signerOf(document), document.known),
    authority_status: document.authorityStatus,
    authority_checked_at: time(document.authorityCheckedAt),
    approval_status: document.approvalStatus,
    // Our own decision.
    approval_confirmed: document.approvalStatus !== 'pending',
    approval_datetime: time(document.approvalDatetime),
    warnings: [...document.observations],
    conflicts: document.conflicts.map(shownConflict),
    conflicts_unkept: document.unkept.map(shownConflict),
    conflicts_total: document.conflictsTotal,
  };
}

function shownConflict(conflict: UnkeptConflict): ReceivedInvoiceConflict {
  return {
    id: conflict.id,
    sha256: conflict.sha256,
    date_received: toIsoDominican(conflict.receivedAt),
    signer: shownSigner(signerOf(conflict), conflict.known),
    authority_status: conflict.authorityStatus,
  };
}

function period(query: PeriodQuery) {
  return {
    buyer_rnc: query.buyerRnc,
    start_date: formatDocumentDate(query.first),
    end_date: formatDocumentDate(query.last),
    env: query.env,
  };
}
