import { notifyManager, onlineManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { GatewayError, gateway, isNoAnswer, SESSION_IN_DOUBT } from './gateway.js';
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
      onSuccess: (data, { queryKey }) => queryKey === SESSION && data !== null && repeatFailed(),
    }),
  });

  /** Learns whether the session has ended, which shows the sign-in over the page, or the gateway is out of reach. */
  function checkSession(): void {
    queries.invalidateQueries({ queryKey: SESSION }, { cancelRefetch: false });
  }

  function repeatFailed(): void {
    queries.refetchQueries({
      type: 'active',
      predicate: ({ state: { error } }) => isNoAnswer(error) || isSignedOut(error),
    });
  }

  window.addEventListener(SESSION_IN_DOUBT, checkSession);
  onlineManager.subscribe(checkSession);
  signedInOrOut.onmessage = checkSession;
  noteLag(gateway, queries);
  return queries;
}
