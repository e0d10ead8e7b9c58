import type { Gauge } from 'prom-client';
import type { Metrics } from '../../telemetry/metrics.js';
import type { DeadLetters } from './dead-letters.js';

/** Number of dead-letter messages of a group under a topic. */
export interface DeadLetterCount {
  readonly topic: string;
  readonly group: string;
  readonly count: number;
}

/** `ecf_dead_letters` by topic and group. */
export function deadLetterGauge(metrics: Metrics): Gauge<'topic' | 'group'> {
  return metrics.gauge({
    name: 'ecf_dead_letters',
    help: 'Dead-letter messages of a group under a topic: failed events that wait for a replay',
    labels: ['topic', 'group'],
  });
}

/** Counts the dead-letter messages at each scrape. Returns the function that ends it. */
export function deadLetterMetrics(
  metrics: Metrics,
  deadLetters: Pick<DeadLetters, 'list'> & { counts?(): Promise<DeadLetterCount[]> },
): () => void {
  const gauge = deadLetterGauge(metrics);
  let former: DeadLetterCount[] = [];
  return metrics.onRender(async () => {
    const counts = await (deadLetters.counts?.() ?? deadLetters.list().then(countDeadLetters));
    for (const { topic, group } of former) gauge.set({ topic, group }, 0);
    former = counts;
    for (const { topic, group, count } of counts) gauge.set({ topic, group }, count);
  });
}

function countDeadLetters(deadLetters: Awaited<ReturnType<DeadLetters['list']>>): DeadLetterCount[] {
  const counts = new Map<string, DeadLetterCount>();
  for (const { event, group } of deadLetters) {
    const key = `${event.topic} ${group}`;
    counts.set(key, { topic: event.topic, group, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}
