import type { paths } from '@ecf/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dayBefore, monthAgo } from '../ui/format.js';
import { bodyOf, gateway, type Schemas } from './gateway.js';
import { type Place, usePlace } from './place.js';

export type Invoice = Schemas['Invoice'];

/** Filters of the list of invoices, as they are in the address. */
export type InvoiceFilters = {
  status?: string;
  type?: string;
  buyer?: string;
  /** Part of the buyer's name. */
  name?: string;
  reference?: string;
  /** States of the delivery, separated by commas. */
  delivery?: string;
  /** A code in the messages of rejected documents. */
  code?: string;
  min?: string;
  max?: string;
  /** `true` for documents of earlier certification runs too. */
  superseded?: string;
  sort?: string;
  /** The day that `from` and `to` are about: `created` or `issued`. */
  period?: string;
  /** Days `YYYY-MM-DD`, both included; by default the last thirty. */
  from?: string;
  to?: string;
  cursor?: string;
};

/** `2026-05-04` as the headers of the gateway have it: `04-05-2026`. */
export const headerDay = (day: string) => day.split('-').reverse().join('-');

const periodOf = ({ rnc, env }: Place, from: string, to: string) => ({
  'rnc-issuing': rnc,
  env,
  'start-date': headerDay(from),
  'end-date': headerDay(to),
});

/** The filters as the query of the gateway, which checks them. */
function queryOf(filters: InvoiceFilters): Record<string, string> {
  const { status, type, buyer, name, reference, delivery, code, min, max, superseded, sort, period, cursor } = filters;
  const query = {
    ...{ status, ecf_type: type, buyer_rnc: buyer, buyer_name: name, reference, delivery_status: delivery },
    ...{ message_code: code, min_amount: min, max_amount: max, superseded, sort, period, cursor },
  };
  return Object.fromEntries(Object.entries(query).flatMap(([key, value]) => (value ? [[key, value]] : [])));
}

/** A page of invoices. */
export function useInvoices(filters: InvoiceFilters) {
  const { from = monthAgo(), to = dayBefore(0) } = filters;
  const place = usePlace();
  const query: paths['/invoices']['get']['parameters']['query'] = { limit: 50, ...queryOf(filters) };
  return useQuery({
    queryKey: ['invoices', place, query, from, to],
    queryFn: () => bodyOf(gateway.GET('/invoices', { params: { header: periodOf(place, from, to), query } })),
    placeholderData: keepPreviousData,
  });
}

/** Every invoice that matches the filters, as CSV that Excel reads. */
export function invoicesAsCsv(filters: InvoiceFilters, place: Place): Promise<Blob> {
  const { from = monthAgo(), to = dayBefore(0), cursor: _, ...others } = filters;
  const query = new URLSearchParams({ ...queryOf(others), bom: 'true' });
  return fileOf(`/invoices?${query}`, place, { ...periodOf(place, from, to), accept: 'text/csv' });
}

/** The document that was submitted under a trackId. */
export async function invoiceOfTrack(trackId: string, { env }: Place): Promise<{ rnc: string; encf: string }> {
  const params = { path: { track_id: trackId }, header: { env } };
  return bodyOf(gateway.GET('/invoice-status/{track_id}', { params }));
}

/** Sums of the invoices of a period, by the day of their creation or of their issue. */
export function useSums(from: string, to: string, period: 'created' | 'issued' = 'created') {
  const place = usePlace();
  return useQuery({
    queryKey: ['sums', place, from, to, period],
    queryFn: () =>
      bodyOf(
        gateway.GET('/invoices/aggregate', {
          params: { header: periodOf(place, from, to), query: { top_clients_limit: 5, period } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

const isUndecided = (invoice: Invoice | undefined) => invoice?.status === 'EnProceso';
const isAwaited = (invoice: Invoice | undefined) => isUndecided(invoice) || invoice?.delivery_status === 'pending';

/** An invoice of an issuer, refreshed until the authority has decided and the document is delivered. */
export function useInvoice(rnc: string, encf: string) {
  const { env } = usePlace();
  const params = { path: { encf }, header: { 'rnc-issuing': rnc, env } };
  return useQuery({
    queryKey: ['invoice', env, rnc, encf],
    queryFn: () => bodyOf(gateway.GET('/invoices/{encf}', { params })),
    refetchInterval: ({ state }) => (isUndecided(state.data) ? 2_000 : isAwaited(state.data) ? 10_000 : false),
  });
}

/** The document of an invoice in JSON. */
export function useInvoiceDocument(rnc: string, encf: string | undefined) {
  const { env } = usePlace();
  return useQuery({
    queryKey: ['document', env, rnc, encf],
    enabled: encf !== undefined,
    queryFn: () =>
      bodyOf(
        gateway.GET('/invoices/{encf}/document', {
          params: { path: { encf: encf as string }, header: { 'rnc-issuing': rnc, env } },
        }),
      ),
  });
}

/** What happened to an invoice: the submissions with each answer of the authority, the acknowledgement, the approvals. */
export function useInvoiceHistory({ env, issuer_rnc, encf, status, delivery_status, approval_status }: Invoice) {
  const key = [env, issuer_rnc, encf];
  const path = { encf };
  const isAnswered = ['delivered', 'refused', 'unacknowledged'].includes(delivery_status);
  const ofBuyer = { query: { issuer_rnc }, path, header: { env } };
  return {
    attempts: useQuery({
      queryKey: ['attempts', ...key, status],
      queryFn: () =>
        bodyOf(gateway.GET('/trackids/{encf}/raw', { params: { path, header: { 'rnc-issuing': issuer_rnc, env } } })),
      placeholderData: keepPreviousData,
      // The list of submissions may lag behind the invoice.
      refetchInterval: ({ state }) => (state.data?.track_ids.at(-1)?.status === status ? false : 2_000),
    }),
    acknowledgement: useQuery({
      queryKey: ['acknowledgement', ...key, delivery_status],
      enabled: isAnswered,
      queryFn: () => bodyOf(gateway.GET('/received-arecf/{encf}', { params: ofBuyer })),
    }),
    approvals: useQuery({
      queryKey: ['approvals', ...key, approval_status],
      enabled: approval_status !== null,
      queryFn: () => bodyOf(gateway.GET('/fe/aprobacioncomercial/api/invoices/{encf}/answers', { params: ofBuyer })),
    }),
  };
}

/** The notes that modify an invoice, latest first; at most a hundred. */
export function useNotes({ env, issuer_rnc, encf, created_at }: Invoice) {
  const period = periodOf({ env, rnc: issuer_rnc }, created_at.slice(0, 10), dayBefore(0));
  const query = { modified_encf: encf, sort: '-created_at' as const, limit: 100 };
  return useQuery({
    queryKey: ['notes', env, issuer_rnc, encf],
    queryFn: async () => (await bodyOf(gateway.GET('/invoices', { params: { header: period, query } }))).invoices,
  });
}

/** The QR code of an invoice as SVG. */
export function useQr({ env, issuer_rnc: rnc, encf }: Invoice) {
  return useQuery({
    queryKey: ['qr', env, rnc, encf],
    queryFn: async () => (await fileOf(`/invoices/${encf}/qr.svg`, { env, rnc })).text(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The address of the printed form or of the signed XML, for a link. It needs headers, so the bytes come by `fetch`. */
export async function fileOf(path: string, place: Place, headers: Record<string, string> = {}): Promise<Blob> {
  const response = await fetch(path, { headers: { env: place.env, 'rnc-issuing': place.rnc, ...headers } });
  if (response.ok) return response.blob();
  await bodyOf(Promise.resolve({ error: await response.json().catch(() => null), response }));
  throw new Error('not reached');
}
