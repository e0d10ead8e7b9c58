import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createConsoleRouter } from './app/router.js';
import { Problem } from './data/gateway.js';
import { SESSION } from './data/session.js';
import './app.css';
import { Words } from './words/words.js';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < 3 && error instanceof Problem && error.retryAfter !== null,
      retryDelay: (_failures, error) => (error instanceof Problem ? (error.retryAfter ?? 1) : 1) * 1_000,
    },
  },
  // A session that ended shows the sign-in over the page, so that what was typed stays.
  queryCache: new QueryCache({
    onError: (error) => {
      if (error instanceof Problem && error.status === 401) queries.setQueryData(SESSION, null);
    },
  }),
});
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
