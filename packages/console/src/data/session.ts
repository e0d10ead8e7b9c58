import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, gateway, Problem } from './gateway.js';

export const SESSION = ['session'];

/** Who is signed in; null without a session. */
export function useSession() {
  return useQuery({
    queryKey: SESSION,
    queryFn: () =>
      bodyOf(gateway.GET('/console/session')).catch((error: unknown) => {
        if (error instanceof Problem && error.status === 401) return null;
        throw error;
      }),
    staleTime: 60_000,
  });
}

export function useSignIn() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (api_key: string) => bodyOf(gateway.POST('/console/session', { body: { api_key } })),
    // Another person may sign in: nothing of the one before stays.
    onSuccess: async (session) => {
      queries.setQueryData(SESSION, session);
      await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey !== SESSION });
    },
  });
}

export function useSignOut() {
  return useMutation({
    mutationFn: () => bodyOf(gateway.DELETE('/console/session')),
    // Loads the page anew, so that nothing of the account stays in memory.
    onSuccess: () => location.assign('/console/'),
  });
}
