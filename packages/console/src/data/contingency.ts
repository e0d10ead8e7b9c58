import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { bodyOf, gateway, type Schemas } from './gateway.js';
import { usePlace } from './place.js';

export type WaitingDocument = Schemas['ContingencyList']['documents'][number];

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
