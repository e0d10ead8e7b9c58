import { useQuery } from '@tanstack/react-query';
import { dayBefore, monthAgo } from '../ui/format.js';
import { bodyOf, GatewayError, gateway } from './gateway.js';
import { headerDay } from './invoices.js';
import { usePlace } from './place.js';

/** The states of a delivery that need a person, as the filter of the list takes them. */
export const FAILING = 'no_receiver,refused,unacknowledged,failed';

/** The largest providers of the last thirty days. */
export function useProviders() {
  const { env, rnc } = usePlace();
  const header = { 'buyer-rnc': rnc, env, 'start-date': headerDay(monthAgo()), 'end-date': headerDay(dayBefore(0)) };
  return useQuery({
    queryKey: ['providers', header],
    queryFn: () =>
      bodyOf(
        gateway.GET('/fe/recepcion/api/invoices/aggregate', { params: { header, query: { top_providers_limit: 5 } } }),
      ),
  });
}

/** Days back to the first documents that are counted as waiting for a decision. */
export const AWAITED_SINCE = 365;

/** The received documents of the last year that wait longest for a decision, and how many wait. */
export function useAwaited() {
  const { env, rnc } = usePlace();
  const header = {
    'buyer-rnc': rnc,
    env,
    'start-date': headerDay(dayBefore(AWAITED_SINCE)),
    'end-date': headerDay(dayBefore(0)),
  };
  const query = { status: 'pending', sort: 'created_at', limit: 5 } as const;
  return useQuery({
    queryKey: ['received', 'awaited', header],
    queryFn: () =>
      bodyOf(gateway.GET('/fe/recepcion/api/invoices/all', { params: { header, query } })).catch((error: unknown) => {
        // The gateway's answer where a period has no document.
        if (error instanceof GatewayError && error.code === 'not_found') return { invoices: [], total: 0 };
        throw error;
      }),
  });
}
