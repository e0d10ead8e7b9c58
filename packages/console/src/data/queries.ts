import { MutationCache, notifyManager, onlineManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { GatewayError, gateway, isNoAnswer } from './gateway.js';
import { noteLag } from './lag.js';
import { isSignedOut, SESSION, signedInOrOut } from './session.js';

/** Keeps what calls brought, and repeats calls that failed for a while. */
export function createQueries(): QueryClient {
  // Disables the button of a call in flight before the second click of a double click.
  notifyManager.setScheduler(queueMicrotask);
  const queries: QueryClient = new QueryClient({
    defaultOptions: {
      // A call without a network fails instead of waiting, so that the frame can say what is wrong.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: 15_000,
        retry: (failures, error) => failures < 2 && error instanceof GatewayError && error.isTemporary,
        retryDelay: (_failures, error) => ((error instanceof GatewayError && error.retryAfter) || 2) * 1_000,
      },
    },
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => queryKey !== SESSION && noteFailure(error),
      onSuccess: (data, { queryKey }) => queryKey === SESSION && data !== null && repeatFailed(),
    }),
    mutationCache: new MutationCache({ onError: noteFailure }),
  });

  /** An ended session shows the sign-in over the page. While there is no answer, the session is queried until there is one. */
  function noteFailure(error: Error): void {
    if (isSignedOut(error)) queries.setQueryData(SESSION, null);
    if (isNoAnswer(error)) checkSession();
  }

  function checkSession(): void {
    queries.invalidateQueries({ queryKey: SESSION });
  }

  function repeatFailed(): void {
    queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.error !== null });
  }

  onlineManager.subscribe(checkSession);
  signedInOrOut.onmessage = checkSession;
  noteLag(gateway, queries);
  return queries;
}
