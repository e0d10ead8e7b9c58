import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@ecf/postgres';
import type { Call, Load } from '../harness/load.js';

const POLL_MS = 4;

/** Milliseconds from the moment a POST leaves until the read model has its document, and until it has the verdict. */
interface Arrivals {
  there: number[];
  decided: number[];
}

/**
 * Submits invoices and reads the table of the read model until all have come. It does not call the query service, which
 * fetches missing changes from the owner before it answers.
 */
export async function arrivals(
  database: Database,
  load: Load,
  calls: readonly (Call & { encf: string })[],
  callers: number,
): Promise<Arrivals> {
  const began = new Map<string, number>();
  const waiting = { there: new Set<string>(), decided: new Set<string>() };
  const taken: Arrivals = { there: [], decided: [] };
  let sending = true;
  const sent = load
    .round(calls, callers, ({ encf }) => {
      began.set(encf, performance.now());
      waiting.there.add(encf);
      waiting.decided.add(encf);
    })
    .finally(() => {
      sending = false;
    });
  while (sending || waiting.decided.size > 0) {
    const { rows } = await database.query<{ encf: string; settled: boolean }>(
      { name: 'bench_arrivals', text: "SELECT encf, settled FROM invoice WHERE env = 'TesteCF' AND encf = ANY($1)" },
      [[...waiting.decided]],
    );
    const now = performance.now();
    for (const { encf, settled } of rows) {
      const ms = now - (began.get(encf) as number);
      if (waiting.there.delete(encf)) taken.there.push(ms);
      if (settled && waiting.decided.delete(encf)) taken.decided.push(ms);
    }
    await delay(POLL_MS);
  }
  await sent;
  return taken;
}
