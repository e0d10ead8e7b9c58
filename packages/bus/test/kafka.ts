import { randomUUID } from 'node:crypto';
import { readConfig } from '@ecf/kit';
import { kafka } from '@ecf/test-servers/kafka';
import { silentLogger } from '@ecf/test-support/services';
import { describe } from '@jest/globals';
import { z } from 'zod';
import type { Bus } from '../src/bus.js';
import { busSettings, type KafkaSettings } from '../src/bus-settings.js';
import { createKafkaBus, type KafkaBusOptions } from '../src/kafka/bus.kafka.js';

// A broker that starts beside other tests needs some time.

const server = await kafka();

/** `describe` if there is a broker; otherwise the tests are skipped by name. */
export const describeOnKafka = server === null ? describe.skip : describe;
/** Settings with a prefix that no other test has, so that all tests share one broker. */
export function kafkaSettings(env: Record<string, string> = {}): KafkaSettings {
  const settings = readConfig(z.object(busSettings), {
    KAFKA_BROKERS: server?.brokers ?? '127.0.0.1:1',
    KAFKA_CLIENT_ID: 'test',
    KAFKA_TOPIC_PREFIX: `t${randomUUID().slice(0, 8)}.`,
    ...env,
  });
  return settings as KafkaSettings;
}

const opened: Bus[] = [];

/** Closes what {@link openKafkaBus} opened, even after a failed test. */
export async function closeKafkaBuses(): Promise<void> {
  await Promise.all(opened.splice(0).map((bus) => bus.close()));
}

/** A bus that retries with short pauses and gives up after three attempts. */
export function openKafkaBus(settings: KafkaSettings, options: Partial<KafkaBusOptions> = {}): Bus {
  const bus = createKafkaBus({
    settings,
    logger: silentLogger,
    retry: { attempts: 3, firstDelayMs: 1, maxDelayMs: 2, timeoutMs: 6_000 },
    ...options,
  });
  opened.push(bus);
  return bus;
}
