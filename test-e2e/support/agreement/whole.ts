import { setTimeout as delay } from 'node:timers/promises';
import type { Standalone } from '../deployment/standalone-process.js';
import { until } from '../until.js';
import type { StoredEverywhere } from './stored-everywhere.js';

/** Events that consumers have not handled yet or gave up, by the services' metrics; null while a service does not answer. */
async function eventsOpen(running: Standalone): Promise<number | null> {
  const text = await (await fetch(running.demo.metrics_url)).text();
  if (/^ecf_process_up\{[^}]*\} 0$/m.test(text)) return null;
  const counts = [...text.matchAll(/^ecf_(?:consumer_lag|dead_letters)\{[^}]*\} (\d+)$/gm)].map(([, value]) =>
    Number(value),
  );
  const topics = new Set(
    [...text.matchAll(/^ecf_consumer_lag\{.*topic="([^"]+)",group="query"/gm)].map(([, topic]) => topic),
  );
  // The standalone deployment has no topics: an event leaves the outbox when all consumers have handled it.
  const expected = running.processes().some(({ name }) => name === 'query') ? 4 : 0;
  return topics.size < expected ? null : counts.reduce((sum, value) => sum + value, 0);
}

/** Waits until every document is decided and archived, every event is published and every consumer has handled it. */
export async function untilWhole(running: Standalone, stored: StoredEverywhere, withinMs: number): Promise<void> {
  async function work() {
    await delay(400);
    const open = await stored.openWork();
    const idle = Object.values(open).every((count) => count === 0);
    return { ...open, events: idle ? await eventsOpen(running) : null };
  }
  await until(
    () => work().catch((error) => ({ events: String(error) })),
    ({ events }) => events === 0,
    withinMs,
  );
}
