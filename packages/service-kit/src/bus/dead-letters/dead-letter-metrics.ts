import type { Gauge } from 'prom-client';
import type { Metrics } from '../../telemetry/metrics.js';
import type { DeadLetters } from './dead-letters.js';

/** How many letters a group has under a topic. */
export interface LetterCount {
  readonly topic: string;
  readonly group: string;
  readonly count: number;
}

/** `ecf_dead_letters` by topic and group. */
export function deadLetterGauge(metrics: Metrics): Gauge<'topic' | 'group'> {
  return metrics.gauge({
    name: 'ecf_dead_letters',
    help: 'Dead letters of a group under a topic: events given up that wait for a replay',
    labels: ['topic', 'group'],
  });
}

/** Tells how many letters there are whenever metrics are asked for; returns how to end that. */
export function deadLetterMetrics(
  metrics: Metrics,
  letters: Pick<DeadLetters, 'list'> & { counts?(): Promise<LetterCount[]> },
): () => void {
  const gauge = deadLetterGauge(metrics);
  let former: LetterCount[] = [];
  return metrics.onRender(async () => {
    const counts = await (letters.counts?.() ?? letters.list().then(countLetters));
    for (const { topic, group } of former) gauge.set({ topic, group }, 0);
    former = counts;
    for (const { topic, group, count } of counts) gauge.set({ topic, group }, count);
  });
}

function countLetters(letters: Awaited<ReturnType<DeadLetters['list']>>): LetterCount[] {
  const counts = new Map<string, LetterCount>();
  for (const { event, group } of letters) {
    const key = `${event.topic} ${group}`;
    counts.set(key, { topic: event.topic, group, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}
