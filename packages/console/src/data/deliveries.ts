import { useQuery } from '@tanstack/react-query';
import { bodyOf, GatewayError, gateway, type Schemas } from './gateway.js';
import { usePlace } from './place.js';

export type Acknowledgement = Schemas['Acknowledgement'];

/** The acknowledgement that the buyer returned for a document; null if none came. */
export function useAcknowledgement(encf: string) {
  const { env, rnc } = usePlace();
  const params = { path: { encf }, query: { issuer_rnc: rnc }, header: { env } };
  return useQuery({
    queryKey: ['acknowledgement', env, rnc, encf],
    queryFn: () =>
      bodyOf(gateway.GET('/received-arecf/{encf}', { params })).catch((error: unknown) => {
        if (error instanceof GatewayError && error.code === 'not_found') return null;
        throw error;
      }),
  });
}
