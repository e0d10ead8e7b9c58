import { z } from 'zod';
import { type BusSettings, busSettings } from './bus-settings.js';
import { readConfig } from './config.js';

/** What tools outside the services need to look after dead letters, without what serves requests. */
export { type BusSettings, usesKafka } from './bus-settings.js';
export { ConfigError } from './config.js';
export { type FileDeadLetters, openFileDeadLetters } from './dead-letters.files.js';
export type { DeadLetter, DeadLetters, ReplayableDeadLetters } from './dead-letters.js';
export { type KafkaDeadLetters, openKafkaDeadLetters } from './dead-letters.kafka.js';
export { silentLogger } from './logger.js';

/** The settings of the bus in the environment; throws ConfigError. */
export function readBusSettings(env: Record<string, string | undefined>): BusSettings {
  return readConfig(z.object(busSettings), env);
}
