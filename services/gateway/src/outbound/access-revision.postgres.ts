import type { Queries } from '@ecf/service-kit/postgres';
import type { AccessRevision } from '../core/ports.js';

const CURRENT = { name: 'gateway_access_revision', text: 'SELECT revision FROM access_revision' };

/**
 * Asks the database, for deployments with several gateways. Calls that wait at the same time share one query, which began
 * after each of them: under load a query serves many requests, and none sees a state older than itself.
 */
export function createPostgresAccessRevision(database: Queries): AccessRevision {
  let running: Promise<number> | null = null;
  let next: Promise<number> | null = null;

  async function ask(): Promise<number> {
    const { rows } = await database.query<{ revision: number }>(CURRENT);
    return rows[0]?.revision ?? 0;
  }

  function start(): Promise<number> {
    const query = ask().finally(() => {
      if (running === query) running = null;
    });
    running = query;
    return query;
  }

  return {
    current() {
      if (running === null) return start();
      next ??= running.then(noted, noted).then(() => {
        next = null;
        return start();
      });
      return next;
    },
  };
}

function noted(): void {}
