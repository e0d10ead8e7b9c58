import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, GatewayError, gateway, isNoAnswer, type Schemas } from './gateway.js';

export const SESSION = ['session'];

export type Session = Schemas['ConsoleSession'];

const SIGNED_OUT = ['session_ended', 'invalid_api_key', 'invalid_admin_token'];
const REPEATED_EVERY_MS = 5_000;

/** Tells the other tabs of the browser that somebody signed in or out. */
export const signedInOrOut = new BroadcastChannel('ecf.session');

/** Whether the call failed because the session, or the key it began with, has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof GatewayError && SIGNED_OUT.includes(error.code);
}

/** Who is signed in; null without a session. While the gateway is out of reach, it has that error beside what was known. */
export function useSession() {
  return useQuery({
    queryKey: SESSION,
    queryFn: () =>
      bodyOf(gateway.GET('/console/session')).catch((error: unknown) => {
        if (isSignedOut(error)) return null;
        throw error;
      }),
    staleTime: 60_000,
    retry: false,
    refetchInterval: ({ state }) => isNoAnswer(state.error) && REPEATED_EVERY_MS,
  });
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas['SignIn']) => bodyOf(gateway.POST('/console/session', { body })),
    onSuccess: async (session) => {
      signedInOrOut.postMessage(null);
      queries.setQueryData(SESSION, session);
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey !== SESSION });
    },
  });
}

/** Where each kind of session begins. */
const HOME = { account: '/console/', administrator: '/console/admin/' };

export function useSignOut(kind: Session['kind']) {
  return useMutation({
    mutationFn: () => bodyOf(gateway.DELETE('/console/session')),
    onSuccess: () => {
      signedInOrOut.postMessage(null);
      // Loads the page anew, so that nothing of the person stays in memory.
      location.assign(HOME[kind]);
    },
  });
}
