import { createInProcessBus } from '../bus/bus.in-process.js';
import type { Bus } from '../bus/bus.js';
import { type BusSettings, usesKafka } from '../bus/bus-settings.js';
import type { RetryPolicy } from '../bus/handle-event.js';
import { createKafkaBus } from '../bus/kafka/bus.kafka.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';

export interface BusParts {
  logger: Logger;
  metrics?: Metrics;
  retry?: Partial<RetryPolicy>;
}

/** Opens the bus of the settings: Kafka if KAFKA_BROKERS is set, otherwise the bus of this process. Connects when used. */
export function openBus(settings: BusSettings, parts: BusParts): Bus {
  return usesKafka(settings) ? createKafkaBus({ settings, ...parts }) : createInProcessBus(parts);
}
