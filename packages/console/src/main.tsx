import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createConsoleRouter } from './app/router.js';
import { createQueries } from './data/queries.js';
import './app.css';
import './app/frame.css';
import { Words } from './words/words.js';

const queries = createQueries();
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
