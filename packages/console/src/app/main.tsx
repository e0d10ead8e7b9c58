import type { ReactNode } from 'react';
import { Notices } from './notices.js';
import { useFocusOnHeading } from './page-change.js';

/** The present page, below what a person should know about all of it. */
export function Main({ children }: { children: ReactNode }) {
  useFocusOnHeading();
  return (
    <main id="page" tabIndex={-1}>
      <Notices />
      {children}
    </main>
  );
}
