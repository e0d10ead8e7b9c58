import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Explanation } from './fault.js';

interface Query<T> {
  data: T | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** What a query brought; until then a sentence, and after a failure what to do. Data that was there stays. */
export function Loaded<T>({ query, children }: { query: Query<T>; children: (data: T) => ReactNode }) {
  const words = useTranslations('state');
  if (query.data !== undefined) return children(query.data);
  if (query.error === null)
    return (
      <p className="quiet" role="status">
        {words('loading')}
      </p>
    );
  return (
    <div className="problem" role="alert">
      <Explanation error={query.error} />
      <button type="button" onClick={() => query.refetch()}>
        {words('retry')}
      </button>
    </div>
  );
}
