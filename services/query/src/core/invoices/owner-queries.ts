import type { Ports } from '../ports.js';

/** Milliseconds for which an owner is not queried again after a failure: answers come from the read models alone then. */
const PAUSE_MS = 2_000;

export interface OwnerQueries {
  /** Queries an owner unless it failed a moment ago. True where it answered; `query` says whether it found anything. */
  query(owner: 'invoices' | 'received', query: () => Promise<boolean>): Promise<boolean>;
  /**
   * Runs one query at a time for a key. Callers that come meanwhile share the next one, which begins after they came and so
   * sees everything that was committed before.
   */
  share(key: string, query: () => Promise<boolean>): Promise<boolean>;
}

/** Queries to the owners of documents, made before an answer is given. */
export function createOwnerQueries({ observer, clock }: Pick<Ports, 'observer' | 'clock'>): OwnerQueries {
  const pausedUntil = { invoices: 0, received: 0 };
  const running = new Map<string, { current: Promise<boolean>; next: Promise<boolean> | null }>();

  function share(key: string, query: () => Promise<boolean>): Promise<boolean> {
    const present = running.get(key);
    if (present !== undefined) {
      present.next ??= present.current.then(() => share(key, query));
      return present.next;
    }
    const current = query().finally(() => running.delete(key));
    running.set(key, { current, next: null });
    return current;
  }

  return {
    share,
    async query(owner, query) {
      if (clock().getTime() < pausedUntil[owner]) {
        observer.freshened('paused');
        return false;
      }
      try {
        observer.freshened((await query()) ? 'found' : 'nothing');
        return true;
      } catch (error) {
        pausedUntil[owner] = clock().getTime() + PAUSE_MS;
        observer.freshened('failed');
        observer.failed(`querying the owner of ${owner} for recent changes`, error);
        return false;
      }
    },
  };
}
