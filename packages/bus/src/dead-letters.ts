import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Database } from '@ecf/postgres';
import type { Bus, BusEvent, DeadLetters, Replay } from './bus.js';

const KEEP = {
  name: 'dead_letter_keep',
  text: `INSERT INTO dead_letters (consumer_group, event_id, topic, event, reason, attempts) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (consumer_group, event_id) DO UPDATE
    SET event = excluded.event, reason = excluded.reason, attempts = excluded.attempts, failed_at = now(), replay = false`,
};
const MARKED = {
  name: 'dead_letter_marked',
  text: 'SELECT consumer_group AS "group", topic, event FROM dead_letters WHERE replay ORDER BY failed_at LIMIT 100',
};
const REMOVE = {
  name: 'dead_letter_remove',
  text: 'DELETE FROM dead_letters WHERE consumer_group = $1 AND event_id = $2',
};
const COUNT = 'SELECT topic, consumer_group, count(*)::int AS count FROM dead_letters GROUP BY topic, consumer_group';

/** Opens the dead letters of a service (table `dead_letters`). Marked ones are replayed every `pollMs` milliseconds. */
export function createDeadLetters(
  database: Pick<Database, 'query'>,
  { logger, metrics, pollMs = 5_000 }: { logger: Logger; metrics: Metrics; pollMs?: number },
): DeadLetters {
  const subscriptions = new Set<{ group: string; topics: readonly string[]; replay: Replay }>();
  let replaying: Promise<void> | null = null;

  async function replayMarked(): Promise<void> {
    const { rows } = await database.query<{ group: string; topic: string; event: BusEvent }>(MARKED);
    for (const { group, topic, event } of rows)
      for (const subscription of subscriptions) {
        if (subscription.group !== group || !subscription.topics.includes(topic)) continue;
        if (!(await subscription.replay(event))) continue;
        await database.query(REMOVE, [group, event.id]);
        logger.info({ event_id: event.id, topic, group }, 'dead letter replayed');
      }
  }
  const timer = setInterval(() => {
    if (subscriptions.size === 0) return;
    replaying ??= replayMarked()
      .catch((error) => logger.warn({ err: error }, 'a replay has to wait'))
      .finally(() => {
        replaying = null;
      });
  }, pollMs);
  timer.unref();
  const endCounting = countDeadLetters(database, metrics);

  return {
    async add({ group, event, reason, attempts }) {
      // PostgreSQL stores no NUL in a text.
      const text = reason.replaceAll('\0', '').slice(0, 2_000);
      await database.query(KEEP, [group, event.id, event.topic, JSON.stringify(event), text, attempts]);
    },
    onReplay(group, topics, replay) {
      const subscription = { group, topics, replay };
      subscriptions.add(subscription);
      return async () => {
        subscriptions.delete(subscription);
        await replaying;
      };
    },
    close() {
      clearInterval(timer);
      endCounting();
    },
  };
}

/** `ecf_dead_letters` by topic and group, counted at each scrape. Returns the function that ends it. */
function countDeadLetters(database: Pick<Database, 'query'>, metrics: Metrics): () => void {
  const gauge = metrics.gauge({
    name: 'ecf_dead_letters',
    help: 'Dead letters of a group under a topic: events that it gave up, until they are replayed or dismissed',
    labels: ['topic', 'group'],
  });
  let former: { topic: string; group: string }[] = [];
  return metrics.onRender(async () => {
    const { rows } = await database.query<{ topic: string; consumer_group: string; count: number }>(COUNT);
    for (const labels of former) gauge.set(labels, 0);
    former = rows.map(({ topic, consumer_group: group }) => ({ topic, group }));
    for (const { topic, consumer_group: group, count } of rows) gauge.set({ topic, group }, count);
  });
}

/** The bus as one service uses it: the events that its handlers give up become dead letters in its own database. */
export function withDeadLetters(bus: Bus, deadLetters: DeadLetters): Bus {
  return { ...bus, subscribe: (options) => bus.subscribe({ deadLetters, ...options }) };
}
