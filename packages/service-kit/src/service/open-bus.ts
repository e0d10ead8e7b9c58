import { createInProcessBus } from '../bus/bus.in-process.js';
import type { Bus } from '../bus/bus.js';
import { type BusSettings, usesKafka } from '../bus/bus-settings.js';
import type { DeadLetters } from '../bus/dead-letters/dead-letters.js';
import type { RetryPolicy } from '../bus/handle-event.js';
import { createKafkaBus } from '../bus/kafka/bus.kafka.js';
import type { ServiceKeys } from '../security/service-keys.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

export interface BusParts {
  keys: ServiceKeys;
  logger: Logger;
  clock: () => Date;
  metrics?: Metrics;
  retry?: Partial<RetryPolicy>;
  /** The dead-letter store of the in-process bus; over Kafka there are topics for it. */
  deadLetters: DeadLetters;
}

/** Opens the bus of the settings: Kafka if KAFKA_BROKERS is set, otherwise the bus of this process. Connects when used. */
export function openBus(settings: BusSettings, { deadLetters, keys, ...parts }: BusParts): Bus {
  return usesKafka(settings)
    ? createKafkaBus({ settings, keys, ...parts })
    : createInProcessBus({ ...parts, deadLetters });
}
