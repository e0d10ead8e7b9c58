import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { dayBefore } from '../ui/format.js';
import { bodyOf, GatewayError, gateway, type Schemas } from './gateway.js';
import { headerDay } from './invoices.js';
import { usePlace } from './place.js';

export type ReceivedInvoice = Schemas['ReceivedInvoice'];

/** A page of received documents, newest first. */
export function useReceived({
  from = dayBefore(30),
  to = dayBefore(0),
  cursor,
}: {
  from?: string;
  to?: string;
  cursor?: string;
}) {
  const { env, rnc } = usePlace();
  return useQuery({
    queryKey: ['received', env, rnc, from, to, cursor],
    queryFn: () =>
      bodyOf(
        gateway.GET('/fe/recepcion/api/invoices/all', {
          params: {
            header: { 'buyer-rnc': rnc, env, 'start-date': headerDay(from), 'end-date': headerDay(to) },
            query: { sort: '-created_at', limit: 50, ...(cursor && { cursor }) },
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

/** A decision about a received document: approved, or rejected for a reason. */
export type Decision = { approve: true } | { approve: false; code: 1 | 2 | 3; description: string | null };

export function useDecision({ encf, provider_rnc, buyer_rnc }: ReceivedInvoice) {
  const { env } = usePlace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (decision: Decision) =>
      bodyOf(
        gateway.POST('/acecf', {
          body: {
            issuer_rnc: provider_rnc,
            receiver_rnc: buyer_rnc,
            encf,
            authority_environment: env,
            approval_status: decision.approve ? 1 : 2,
            ...(decision.approve ? {} : { rejection_code: decision.code, rejection_description: decision.description }),
          },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['received'] }),
  });
}
