import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { GatewayError } from '../data/gateway.js';
import type { reasons } from '../words/es/reasons.js';

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
      <p>{problemText(query.error, words)}</p>
      <button type="button" onClick={() => query.refetch()}>
        {words('retry')}
      </button>
    </div>
  );
}

/** What went wrong and what to do: in the console's words where it has some, else the gateway's sentence. */
export function problemText(error: Error, words: ReturnType<typeof useTranslations<'state'>>): string {
  if (!(error instanceof GatewayError)) return words('problem', { message: error.message });
  if (error.code === 'no_answer') return words('unreachable');
  const names = [...error.items.map(({ type }) => type), error.code];
  const known = names.find((name) => words.has(`reasons.${name as Reason}`));
  return known === undefined ? words('problem', { message: error.message }) : words(`reasons.${known as Reason}`);
}

type Reason = keyof typeof reasons;
