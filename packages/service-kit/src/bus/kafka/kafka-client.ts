import { readFileSync } from 'node:fs';
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import { ConfigError } from '../../config/config.js';
import type { Logger } from '../../telemetry/logger.js';
import type { KafkaSettings } from '../bus-settings.js';
import { kafkaLogCreator } from './kafkajs-workarounds.js';

/** Loaded at its first use: a process without brokers does not load it. */
export const loadKafka = async () => (await import('kafkajs')).default;

type KafkaClient = InstanceType<Awaited<ReturnType<typeof loadKafka>>['Kafka']>;

/** Opens a client of the brokers. Each producer and consumer has its own; `retries` bounds its attempts to connect. */
export type OpenKafka = (retries?: number) => Promise<KafkaClient>;

/** Clients for the brokers of the settings. Nothing is connected yet. Throws ConfigError. */
export function kafkaClients(settings: KafkaSettings, logger: Logger): OpenKafka {
  const sasl = saslOf(settings);
  const ssl = sslOf(settings);
  const config: Omit<KafkaConfig, 'logLevel'> = {
    clientId: settings.KAFKA_CLIENT_ID,
    brokers: settings.KAFKA_BROKERS,
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
    connectionTimeout: 3_000,
    authenticationTimeout: 10_000,
    requestTimeout: 15_000,
    logCreator: kafkaLogCreator(logger),
  };
  return async (retries = 4) => {
    const { Kafka, logLevel } = await loadKafka();
    return new Kafka({
      ...config,
      logLevel: logLevel.INFO,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries },
    });
  };
}

function sslOf(settings: KafkaSettings): KafkaConfig['ssl'] {
  if (!settings.KAFKA_SSL) return undefined;
  if (settings.KAFKA_SSL_CA_FILE === undefined) return true;
  try {
    return { ca: [readFileSync(settings.KAFKA_SSL_CA_FILE, 'utf8')] };
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new ConfigError([{ variable: 'KAFKA_SSL_CA_FILE', message: `cannot be read (${reason})` }]);
  }
}

function saslOf(settings: KafkaSettings): SASLOptions | undefined {
  const mechanism = settings.KAFKA_SASL_MECHANISM;
  if (mechanism === undefined) return undefined;
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = settings;
  if (username === undefined || password === undefined) {
    const variable = username === undefined ? 'KAFKA_SASL_USERNAME' : 'KAFKA_SASL_PASSWORD';
    throw new ConfigError([{ variable, message: 'is required where KAFKA_SASL_MECHANISM is set' }]);
  }
  return { mechanism, username, password } as SASLOptions;
}
