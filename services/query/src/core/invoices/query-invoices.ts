import type { Invoice, InvoiceAggregate, InvoiceCount, InvoiceList, RawAnswerBody, TrackIdList } from '@ecf/contracts';
import { type Environment, formatDocumentDate } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import { requireTaxpayer } from '../account-taxpayers.js';
import { mayExist, QueryError } from '../errors.js';
import type { InvoiceFilter, Page, Place, Ports, ShownInvoice } from '../ports.js';
import { aggregate } from '../sums/aggregate.js';
import type { Freshness } from './freshness.js';
import { type InvoiceKey, isComplete, publicInvoice } from './issued-invoice.js';

type QueryPorts = Pick<Ports, 'invoices' | 'taxpayers' | 'source' | 'invoiceSource' | 'observer'>;
type WithCaller<T> = T & { readonly caller: Caller };

/** Queries about the documents that the account's taxpayers issued. */
export interface QueryInvoices {
  list(query: WithCaller<InvoiceFilter & Page>): Promise<InvoicePage>;
  count(query: WithCaller<InvoiceFilter>): Promise<InvoiceCount>;
  aggregate(query: WithCaller<InvoiceFilter & { readonly topClients: number }>): Promise<InvoiceAggregate>;
  one(query: WithCaller<InvoiceKey>): Promise<Invoice>;
  trackIds(query: WithCaller<InvoiceKey>): Promise<TrackIdList>;
  /** The submissions with all answers of the authority. */
  rawAnswers(query: WithCaller<InvoiceKey>): Promise<RawTrackIdList>;
  lagMs: Freshness['lagMs'];
}

/** A page, and the place of the next one. */
export type InvoicePage = Omit<InvoiceList, 'next_cursor'> & { readonly next: Place | null };

export type RawTrackIdList = Omit<TrackIdList, 'track_ids'> & {
  track_ids: (TrackIdList['track_ids'][number] & { raw: RawAnswerBody[] })[];
};

export function createQueryInvoices(ports: QueryPorts, freshness: Freshness): QueryInvoices {
  async function prepare(query: WithCaller<InvoiceFilter>): Promise<void> {
    await requireTaxpayer(ports, query.caller, query.issuerRnc);
    await freshness.issuer(query);
  }

  /** A settled document is answered from the read model. For any other, the owner is queried first. */
  async function require(query: WithCaller<InvoiceKey>): Promise<ShownInvoice> {
    await requireTaxpayer(ports, query.caller, query.issuerRnc);
    let found = await ports.invoices.find(query);
    let isCurrent = true;
    if (found?.settled !== true) {
      isCurrent = await freshness.documents(query.env, [query.issuerRnc], query.encf);
      found = await ports.invoices.find(query);
    }
    if (found !== null) return found;
    if (!isCurrent) throw mayExist(`whether ${query.issuerRnc} has issued ${query.encf} in ${query.env}`);
    throw new QueryError('not_found', `${query.issuerRnc} has issued no ${query.encf} in ${query.env}.`);
  }

  /** The owner has all submissions; events may lack room for some. */
  async function allAttempts({ env, issuerRnc, encf }: InvoiceKey): Promise<ShownInvoice['attempts']> {
    const { invoices } = await ports.invoiceSource.findInvoices({
      env,
      numbers: [{ issuer_rnc: issuerRnc, encf }],
      whole: true,
    });
    const [whole] = invoices;
    if (whole === undefined)
      throw new Error(`emission does not know ${issuerRnc} ${encf} in ${env}, although it published it`);
    return whole.attempts;
  }

  async function trackIds(query: WithCaller<InvoiceKey>): Promise<TrackIdList> {
    const known = (await require(query)).attempts;
    const attempts = isComplete(known) ? known : await allAttempts(query);
    return {
      encf: query.encf,
      issuer_rnc: query.issuerRnc,
      env: query.env,
      count: attempts.length,
      track_ids: attempts,
    };
  }

  return {
    async list(query) {
      await prepare(query);
      const { total, invoices, next } = await ports.invoices.list(query, query);
      return {
        count: invoices.length,
        total,
        ...period(query),
        limit: query.limit,
        offset: query.offset,
        next,
        invoices: invoices.map((invoice) => publicInvoice(invoice, invoice)),
      };
    },
    async count(query) {
      await prepare(query);
      return { total_invoices: await ports.invoices.count(query), ...period(query) };
    },
    async aggregate(query) {
      await prepare(query);
      const { invoices, clients } = await ports.invoices.sums(query, query.topClients);
      return { ...period(query), ...aggregate(invoices, clients) };
    },
    async one(query) {
      const invoice = await require(query);
      return publicInvoice(invoice, invoice);
    },
    trackIds,
    lagMs: freshness.lagMs,
    async rawAnswers(query) {
      const list = await trackIds(query);
      const { answers } = await ports.invoiceSource.rawAnswers({
        env: query.env,
        issuer_rnc: query.issuerRnc,
        encf: query.encf,
      });
      const of = (wanted: number) => answers.filter(({ attempt }) => attempt === wanted);
      return {
        ...list,
        track_ids: list.track_ids.map((submission) => ({
          ...submission,
          raw: of(submission.attempt).map(({ attempt: _attempt, ...raw }) => raw),
        })),
      };
    },
  };
}

function period(query: InvoiceFilter): { issuer_rnc: string; start_date: string; end_date: string; env: Environment } {
  return {
    issuer_rnc: query.issuerRnc,
    start_date: formatDocumentDate(query.first),
    end_date: formatDocumentDate(query.last),
    env: query.env,
  };
}
