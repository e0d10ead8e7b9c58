import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createConsoleRouter } from './app/router.js';
import { GatewayError } from './data/gateway.js';
import { isSignedOut, SESSION } from './data/session.js';
import './app.css';
import { Words } from './words/words.js';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < 3 && error instanceof GatewayError && error.isTemporary,
      retryDelay: (_failures, error) => ((error instanceof GatewayError ? error.retryAfter : undefined) ?? 2) * 1_000,
    },
  },
  queryCache: new QueryCache({ onError: noteSignOut }),
  mutationCache: new MutationCache({ onError: noteSignOut }),
});

/** Shows the sign-in over the page once the session has ended, so that what was typed stays. */
function noteSignOut(error: Error): void {
  if (isSignedOut(error)) queries.setQueryData(SESSION, null);
}

const router = createConsoleRouter();

createRoot(document.getElementById('console') as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Words>
        <RouterProvider router={router} />
      </Words>
    </QueryClientProvider>
  </StrictMode>,
);
