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

/** One invoice of the issuer in the address. */
export function useInvoice(rnc: string, encf: string) {
  const { env } = usePlace();
  const params = { path: { encf }, header: { 'rnc-issuing': rnc, env } };
  const key = [env, rnc, encf];
  return {
    invoice: useQuery({
      queryKey: ['invoice', ...key],
      queryFn: () => bodyOf(gateway.GET('/invoices/{encf}', { params })),
      // Until the authority has decided.
      refetchInterval: ({ state }) => (state.data?.status === 'EnProceso' ? 5_000 : false),
    }),
    document: useQuery({
      queryKey: ['document', ...key],
      queryFn: () => bodyOf(gateway.GET('/invoices/{encf}/document', { params })),
      staleTime: Number.POSITIVE_INFINITY,
    }),
    attempts: useQuery({
      queryKey: ['attempts', ...key],
      queryFn: () => bodyOf(gateway.GET('/trackids/{encf}', { params })),
    }),
  };
}

/** The address of the printed form or of the signed XML, for a link. It needs headers, so the bytes come by `fetch`. */
export async function fileOf(path: string, place: Place): Promise<Blob> {
  const response = await fetch(path, { headers: { env: place.env, 'rnc-issuing': place.rnc } });
  if (response.ok) return response.blob();
  await bodyOf(Promise.resolve({ error: await response.json().catch(() => null), response }));
  throw new Error('not reached');
}
