import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, GatewayError, gateway, type Schemas } from './gateway.js';

export const SESSION = ['session'];

export type Session = Schemas['ConsoleSession'];

const SIGNED_OUT = ['session_ended', 'invalid_api_key', 'invalid_admin_token'];

/** Whether the call failed because the session, or the key it began with, has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof GatewayError && SIGNED_OUT.includes(error.code);
}

/** Who is signed in; null without a session. */
export function useSession() {
  return useQuery({
    queryKey: SESSION,
    queryFn: () =>
      bodyOf(gateway.GET('/console/session')).catch((error: unknown) => {
        if (isSignedOut(error)) return null;
        throw error;
      }),
    staleTime: 60_000,
  });
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Schemas['SignIn']) => bodyOf(gateway.POST('/console/session', { body })),
    // Another person may sign in: nothing of the one before stays.
    onSuccess: async (session) => {
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
    // Loads the page anew, so that nothing of the person stays in memory.
    onSuccess: () => location.assign(HOME[kind]),
  });
}
