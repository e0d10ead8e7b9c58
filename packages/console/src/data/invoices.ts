import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dayBefore } from '../ui/format.js';
import { bodyOf, gateway, type Schemas } from './gateway.js';
import { type Place, usePlace } from './place.js';

export type Invoice = Schemas['Invoice'];

/** Filters of the list of invoices, as they stand in the address. */
export type InvoiceFilters = {
  status?: string;
  type?: string;
  buyer?: string;
  reference?: string;
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

/** A page of invoices, newest first. */
export function useInvoices(filters: InvoiceFilters) {
  const { status, type, buyer, reference, from = dayBefore(30), to = dayBefore(0), cursor } = filters;
  const place = usePlace();
  const query = {
    sort: '-created_at' as const,
    limit: 50,
    ...(status && { status: status as Schemas['InvoiceStatus'] }),
    ...(type && { ecf_type: type as Schemas['EcfType'] }),
    ...(buyer && { buyer_rnc: buyer }),
    ...(reference && { reference }),
    ...(cursor && { cursor }),
  };
  return useQuery({
    queryKey: ['invoices', place, query, from, to],
    queryFn: () => bodyOf(gateway.GET('/invoices', { params: { header: periodOf(place, from, to), query } })),
    placeholderData: keepPreviousData,
  });
}

/** Sums of the invoices of a period. */
export function useSums(from: string, to: string) {
  const place = usePlace();
  return useQuery({
    queryKey: ['sums', place, from, to],
    queryFn: () =>
      bodyOf(
        gateway.GET('/invoices/aggregate', {
          params: { header: periodOf(place, from, to), query: { top_clients_limit: 5 } },
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

/** The QR code of an invoice as SVG. */
export function useQr({ env, issuer_rnc: rnc, encf }: Invoice) {
  return useQuery({
    queryKey: ['qr', env, rnc, encf],
    queryFn: async () => (await fileOf(`/invoices/${encf}/qr.svg`, { env, rnc })).text(),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The address of the printed form or of the signed XML, for a link. It needs headers, so the bytes come by `fetch`. */
export async function fileOf(path: string, place: Place): Promise<Blob> {
  const response = await fetch(path, { headers: { env: place.env, 'rnc-issuing': place.rnc } });
  if (response.ok) return response.blob();
  await bodyOf(Promise.resolve({ error: await response.json().catch(() => null), response }));
  throw new Error('not reached');
}
