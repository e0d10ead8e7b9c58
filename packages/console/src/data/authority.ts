import { useQuery } from '@tanstack/react-query';
import { bodyOf, GatewayError, gateway } from './gateway.js';
import { usePlace } from './place.js';

/** The authority's services; null where this gateway or the environment cannot query them. */
export function useAuthority() {
  const { env } = usePlace();
  return useQuery({
    queryKey: ['authority', env],
    queryFn: () =>
      bodyOf(gateway.GET('/monitoring/status', { params: { header: { env } } })).catch((error: unknown) => {
        const isAbsent = ['status_key_missing', 'service_not_in_environment'];
        if (error instanceof GatewayError && isAbsent.includes(error.code)) return null;
        throw error;
      }),
    refetchInterval: 60_000,
  });
}
