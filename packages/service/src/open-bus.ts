import { type Bus, type BusSettings, createInProcessBus, type RetryPolicy, usesKafka } from '@ecf/bus';
import { createKafkaBus } from '@ecf/bus/kafka';
import type { Logger, Metrics } from '@ecf/kit/telemetry';

export interface BusParts {
  logger: Logger;
  metrics?: Metrics;
  retry?: Partial<RetryPolicy>;
}

/** Opens the bus of the settings: Kafka if KAFKA_BROKERS is set, otherwise the bus of this process. Connects when used. */
export function openBus(settings: BusSettings, parts: BusParts): Bus {
  return usesKafka(settings) ? createKafkaBus({ settings, ...parts }) : createInProcessBus(parts);
}
