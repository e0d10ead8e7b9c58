import { createInProcessBus } from './bus.in-process.js';
import type { Bus } from './bus.js';
import { createKafkaBus } from './bus.kafka.js';
import { type BusSettings, usesKafka } from './bus-settings.js';
import type { DeadLetters } from './dead-letters.js';
import type { RetryPolicy } from './event-handling.js';
import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

export interface BusParts {
  logger: Logger;
  clock: () => Date;
  metrics?: Metrics;
  retry?: Partial<RetryPolicy>;
  /** Where the bus of one process keeps what cannot be handled; over Kafka there are topics for it. */
  deadLetters: DeadLetters;
}

/** The bus that the settings ask for: Kafka where KAFKA_BROKERS is set, else that of this process. Connects when used. */
export function openBus(settings: BusSettings, { deadLetters, ...parts }: BusParts): Bus {
  return usesKafka(settings) ? createKafkaBus({ settings, ...parts }) : createInProcessBus({ ...parts, deadLetters });
}
