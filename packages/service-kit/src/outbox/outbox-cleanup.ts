import { setTimeout as delay } from 'node:timers/promises';
import type { Queries } from '../postgres/database.js';

const PUBLISHED = { name: 'outbox_published', text: 'DELETE FROM outbox WHERE position = ANY($1::bigint[])' };

/** Deletes published rows; calls that come within `patienceMs` of each other share a statement. */
export type ForgetPublished = (positions: readonly number[], patienceMs: number) => Promise<void>;

export function createOutboxCleanup(queries: Queries): ForgetPublished {
  let collecting: { positions: number[]; done: Promise<void> } | null = null;

  async function flush(): Promise<void> {
    const positions = collecting?.positions ?? [];
    collecting = null;
    await queries.query(PUBLISHED, [positions]);
  }

  return (positions, patienceMs) => {
    collecting ??= { positions: [], done: delay(patienceMs).then(flush) };
    collecting.positions.push(...positions);
    return collecting.done;
  };
}
