import { type QueryClient, skipToken, useQuery } from '@tanstack/react-query';
import type { gateway } from './gateway.js';

const LAG = ['read-model-lag'];

/** Notes how far the lists are behind, which each response from them states. */
export function noteLag(calls: typeof gateway, queries: QueryClient): void {
  calls.use({
    onResponse({ response }) {
      const lag = response.headers.get('x-read-model-lag-ms');
      if (lag !== null) queries.setQueryData(LAG, Number(lag) / 1_000);
    },
  });
}

/** Seconds that the latest change took to arrive in the lists. */
export function useLag(): number {
  return useQuery<number>({ queryKey: LAG, queryFn: skipToken }).data ?? 0;
}
