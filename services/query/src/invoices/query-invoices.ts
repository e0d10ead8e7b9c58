import type { Invoice, InvoiceAggregate, InvoiceCount, InvoiceList, RawAnswerBody, TrackIdList } from '@ecf/contracts';
import { type Environment, environmentRun, formatDocumentDate, storedEnvironment } from '@ecf/domain';
import type { AccountPorts, Caller } from '@ecf/taxpayer-replica';
import { requireTaxpayer } from '../account-taxpayers.js';
import { mayExist, QueryError } from '../errors.js';
import { aggregate } from './aggregate.js';
import { isComplete, publicInvoice } from './issued-invoice.js';
import type { Owners } from './owners.js';
import type { InvoiceFilter, InvoiceSource, InvoiceStore, Page, Place, RunStore, ShownInvoice } from './ports.js';

interface QueryPorts extends AccountPorts {
  readonly invoices: InvoiceStore;
  readonly runs: RunStore;
  readonly emission: Pick<InvoiceSource, 'findInvoices' | 'rawAnswers'>;
}
type WithCaller<T> = T & { readonly caller: Caller };

/** A period of an issuer's documents; Dominican days of creation, both included. */
export type PeriodQuery = WithCaller<Omit<InvoiceFilter, 'env'> & { readonly env: Environment }>;

/** A document by its number; `run` is null for the present certification run. */
export type DocumentQuery = WithCaller<{
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  readonly run: number | null;
}>;

/** Queries about the documents that the account's taxpayers issued. */
export interface QueryInvoices {
  list(query: PeriodQuery & Page): Promise<InvoicePage>;
  count(query: PeriodQuery): Promise<InvoiceCount>;
  aggregate(query: PeriodQuery & { readonly topClients: number }): Promise<InvoiceAggregate>;
  one(query: DocumentQuery): Promise<Invoice>;
  trackIds(query: DocumentQuery): Promise<TrackIdList>;
  /** The submissions with all answers of the authority. */
  rawAnswers(query: DocumentQuery): Promise<RawTrackIdList>;
}

/** A page, and the place of the next one. */
export type InvoicePage = Omit<InvoiceList, 'next_cursor'> & { readonly next: Place | null };

export type RawTrackIdList = Omit<TrackIdList, 'track_ids'> & {
  track_ids: (TrackIdList['track_ids'][number] & { raw: RawAnswerBody[] })[];
};

export function createQueryInvoices(
  ports: QueryPorts,
  owners: Pick<Owners, 'issued'>,
  rebuild: () => Promise<{ readonly building: boolean }>,
): QueryInvoices {
  async function requireComplete(): Promise<void> {
    if (!(await rebuild()).building) return;
    const message =
      'The read models are being rebuilt, so lists and sums would be incomplete; repeat after the rebuild.';
    throw new QueryError('service_unavailable', message);
  }

  /** Reads from the read model. A rebuild may begin or end meanwhile. */
  async function complete<T>(read: Promise<T>): Promise<T> {
    const found = await read;
    await requireComplete();
    return found;
  }

  /** The filter of the read model: the documents of the present run. */
  async function prepare<Q extends PeriodQuery>(query: Q): Promise<Omit<Q, 'env'> & InvoiceFilter> {
    await requireTaxpayer(ports, query.caller, query.issuerRnc);
    await requireComplete();
    return { ...query, env: storedEnvironment({ env: query.env, run: await presentRun(ports, query) }) };
  }

  /** A settled document is answered from the read model. Any other is looked up at its owner first. */
  async function require(query: DocumentQuery): Promise<ShownInvoice> {
    await requireTaxpayer(ports, query.caller, query.issuerRnc);
    let found = await find(ports, query);
    let ownerAnswered = true;
    if (found?.settled !== true) {
      ownerAnswered = await owners.issued(query.env, [query.issuerRnc], query.encf, query.run);
      found = await find(ports, query);
    }
    if (found !== null) return found;
    if (!ownerAnswered) throw mayExist(`whether ${query.issuerRnc} has issued ${query.encf} in ${query.env}`);
    const where = query.run === null ? query.env : `run ${query.run} of ${query.env}`;
    throw new QueryError('not_found', `${query.issuerRnc} has issued no ${query.encf} in ${where}.`);
  }

  /** The owner has all submissions; events may lack room for some. */
  async function allAttempts(invoice: ShownInvoice): Promise<ShownInvoice['attempts']> {
    const { issuerRnc, encf } = invoice;
    const { env, run } = environmentRun(invoice.env);
    const { invoices } = await ports.emission.findInvoices({
      env,
      numbers: [{ issuer_rnc: issuerRnc, encf, run }],
      whole: true,
    });
    const [whole] = invoices;
    if (whole === undefined)
      throw new Error(`emission did not find ${issuerRnc} ${encf} in ${env}, although it published the document`);
    return whole.attempts;
  }

  async function trackIds(query: DocumentQuery): Promise<TrackIdList> {
    const invoice = await require(query);
    const attempts = isComplete(invoice.attempts) ? invoice.attempts : await allAttempts(invoice);
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
      const filter = await prepare(query);
      const { total, invoices, next } = await complete(ports.invoices.list(filter, query));
      const present = environmentRun(filter.env);
      return {
        count: invoices.length,
        total,
        ...period(query),
        limit: query.limit,
        offset: query.offset,
        next,
        invoices: invoices.map((invoice) => shown(invoice, present.run)),
      };
    },
    async count(query) {
      return { total_invoices: await complete(ports.invoices.count(await prepare(query))), ...period(query) };
    },
    async aggregate(query) {
      const sums = await complete(ports.invoices.sums(await prepare(query), query.topClients));
      const isOneDay = query.first === query.last;
      return { ...period(query), ...aggregate(sums), by_hour: isOneDay ? sums.hours : null };
    },
    async one(query) {
      const invoice = await require(query);
      return shown(invoice, await presentRun(ports, query));
    },
    trackIds,
    async rawAnswers(query) {
      const list = await trackIds(query);
      const { answers } = await ports.emission.rawAnswers({
        env: query.env,
        issuer_rnc: query.issuerRnc,
        encf: query.encf,
        ...(query.run === null ? {} : { run: query.run }),
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

async function presentRun(
  { runs }: Pick<QueryPorts, 'runs'>,
  { env, issuerRnc }: Pick<DocumentQuery, 'env' | 'issuerRnc'>,
): Promise<number> {
  const [run = 1] = await runs.present(env, [issuerRnc]);
  return run;
}

async function find(ports: Pick<QueryPorts, 'runs' | 'invoices'>, query: DocumentQuery): Promise<ShownInvoice | null> {
  const { env, issuerRnc, encf, run } = query;
  const stored = storedEnvironment({ env, run: run ?? (await presentRun(ports, query)) });
  return ports.invoices.find({ env: stored, issuerRnc, encf });
}

/** The document, and whether a later certification run began. */
function shown(invoice: ShownInvoice, presentRun: number): Invoice {
  return { ...publicInvoice(invoice, invoice), superseded: environmentRun(invoice.env).run < presentRun };
}

function period(query: PeriodQuery): { issuer_rnc: string; start_date: string; end_date: string; env: Environment } {
  return {
    issuer_rnc: query.issuerRnc,
    start_date: formatDocumentDate(query.first),
    end_date: formatDocumentDate(query.last),
    env: query.env,
  };
}
