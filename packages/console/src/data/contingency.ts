import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { bodyOf, GatewayError, gateway, type Schemas } from './gateway.js';
import { usePlace } from './place.js';

export type WaitingDocument = Schemas['ContingencyList']['documents'][number];
export type AuthorityStatus = Schemas['MonitoringStatus'];

const REFRESH_MS = 15_000;

/** A page of the documents that wait for the authority, oldest first. */
export function useWaiting(after?: string) {
  const { env } = usePlace();
  const query = { limit: 50, ...(after && { after }) };
  return useQuery({
    queryKey: ['contingency', env, query],
    queryFn: () => bodyOf(gateway.GET('/contingency', { params: { header: { env }, query } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

/** The authority's services; null where the deployment may not ask for them. */
export function useServices() {
  const { env } = usePlace();
  return useQuery({
    queryKey: ['services', env],
    queryFn: () =>
      bodyOf(gateway.GET('/monitoring/status', { params: { header: { env } } })).catch((error: unknown) => {
        if (error instanceof GatewayError && WITHOUT.includes(error.code)) return null;
        throw error;
      }),
    refetchInterval: 4 * REFRESH_MS,
  });
}

const WITHOUT = ['status_key_missing', 'service_not_in_environment', 'missing_scope'];
