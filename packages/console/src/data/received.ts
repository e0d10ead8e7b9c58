import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { dayBefore } from '../ui/format.js';
import { bodyOf, GatewayError, gateway, type Schemas } from './gateway.js';
import { headerDay } from './invoices.js';
import { type Place, usePlace } from './place.js';

export type ReceivedInvoice = Schemas['ReceivedInvoice'];
export type Approval = Schemas['Approval'];

/** Filters of the list of received documents, as they stand in the address. */
export type ReceivedFilters = {
  status?: string;
  authority_status?: string;
  type?: string;
  provider?: string;
  /** Days `YYYY-MM-DD`, both included; by default the last thirty. */
  from?: string;
  to?: string;
  cursor?: string;
};

/** What names a received document: the RNC of the buyer and of the provider, and the number. */
export type ReceivedKey = Pick<ReceivedInvoice, 'buyer_rnc' | 'provider_rnc' | 'encf'>;

/** The types that have a commercial approval. Source: Formato Aprobación Comercial v1.0, IT 15. */
const APPROVABLE = ['31', '33', '34', '44', '45'];

/** Whether the buyer may still approve or reject the document. */
export function awaitsDecision({ approval_status, ecf_type }: ReceivedInvoice): boolean {
  return approval_status === 'pending' && APPROVABLE.includes(ecf_type);
}

/** A page of received documents, newest first. */
export function useReceived(filters: ReceivedFilters) {
  const { status, authority_status, type, provider, from = dayBefore(30), to = dayBefore(0), cursor } = filters;
  const { env, rnc } = usePlace();
  const query = {
    sort: '-created_at' as const,
    limit: 50,
    ...(status && { status: status as ReceivedInvoice['approval_status'] }),
    ...(authority_status && { authority_status: authority_status as ReceivedInvoice['authority_status'] }),
    ...(type && { ecf_type: type as Schemas['EcfType'] }),
    ...(provider && { provider_rnc: provider }),
    ...(cursor && { cursor }),
  };
  return useQuery({
    queryKey: ['received', env, rnc, query, from, to],
    queryFn: () =>
      bodyOf(
        gateway.GET('/fe/recepcion/api/invoices/all', {
          params: {
            header: { 'buyer-rnc': rnc, env, 'start-date': headerDay(from), 'end-date': headerDay(to) },
            query,
          },
        }),
      ).catch((error: unknown) => {
        // The gateway's answer where a period has no document.
        if (error instanceof GatewayError && error.code === 'not_found')
          return { invoices: [], total: 0, next_cursor: null };
        throw error;
      }),
    placeholderData: keepPreviousData,
  });
}

const parametersOf = ({ buyer_rnc, provider_rnc, encf }: ReceivedKey, env: Place['env']) => ({
  path: { encf },
  header: { 'buyer-rnc': buyer_rnc, 'provider-rnc': provider_rnc, env },
});

/** One received document as it is now. */
export function findReceived(key: ReceivedKey, env: Place['env']): Promise<ReceivedInvoice> {
  return bodyOf(gateway.GET('/fe/recepcion/api/invoices/{encf}', { params: parametersOf(key, env) }));
}

export const oneReceivedKey = ({ buyer_rnc, provider_rnc, encf }: ReceivedKey, env: Place['env']) => [
  'received one',
  env,
  buyer_rnc,
  provider_rnc,
  encf,
];

/** A received document, its content, and the decisions that were made about it, newest first. */
export function useReceivedInvoice(key: ReceivedKey) {
  const { env } = usePlace();
  const { buyer_rnc: receiver_rnc, provider_rnc: issuer_rnc, encf } = key;
  return {
    invoice: useQuery({
      queryKey: oneReceivedKey(key, env),
      queryFn: () => findReceived(key, env),
      // Until the authority was asked.
      refetchInterval: ({ state }) => (state.data?.authority_status === 'pending' ? 5_000 : false),
    }),
    document: useQuery({
      queryKey: ['received document', ...oneReceivedKey(key, env)],
      queryFn: () =>
        bodyOf(gateway.GET('/fe/recepcion/api/invoices/{encf}/document', { params: parametersOf(key, env) })),
    }),
    decisions: useQuery({
      queryKey: ['decisions', env, receiver_rnc, issuer_rnc, encf],
      queryFn: () =>
        bodyOf(gateway.GET('/acecf', { params: { header: { env }, query: { receiver_rnc, issuer_rnc, encf } } })),
    }),
  };
}

/** Decisions of the taxpayer that the authority has not answered, or that did not reach the provider. */
export function useOpenDecisions() {
  const { env, rnc } = usePlace();
  return useQuery({
    queryKey: ['decisions', env, rnc, 'open'],
    queryFn: () =>
      bodyOf(
        gateway.GET('/acecf', { params: { header: { env }, query: { receiver_rnc: rnc, open: 'true', limit: 100 } } }),
      ),
  });
}

/** The files of a received document. */
export function filesOf(key: ReceivedKey, env: Place['env']) {
  const { buyer_rnc, provider_rnc: issuer_rnc, encf } = key;
  const header = { 'buyer-rnc': buyer_rnc, env };
  return {
    printed: (): Promise<Blob> =>
      bodyOf(gateway.GET('/fe/recepcion/api/invoices/{encf}/pdf', { params: parametersOf(key, env), parseAs: 'blob' })),
    /** @param sha256 names one of the documents that have the same number; without it, the one that was received */
    xml: (sha256?: string): Promise<Blob> =>
      bodyOf(
        gateway.GET('/{encf}/xml', {
          params: { path: { encf }, header, query: { issuer_rnc, ...(sha256 && { sha256 }) } },
          parseAs: 'blob',
        }),
      ),
    acknowledgement: (): Promise<Blob> =>
      bodyOf(
        gateway.GET('/arecf/{encf}', { params: { path: { encf }, header, query: { issuer_rnc } }, parseAs: 'blob' }),
      ),
    decision: (approval_id: number): Promise<Blob> =>
      bodyOf(
        gateway.GET('/acecf/{approval_id}/xml', {
          params: { path: { approval_id }, header: { env } },
          parseAs: 'blob',
        }),
      ),
  };
}
