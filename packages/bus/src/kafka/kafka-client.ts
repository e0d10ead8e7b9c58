import { readFileSync } from 'node:fs';
import { ConfigError } from '@ecf/kit';
import type { Logger } from '@ecf/kit/telemetry';
import type { Admin, KafkaConfig, SASLOptions } from 'kafkajs';
import type { KafkaSettings } from '../bus-settings.js';
import { kafkaLogCreator } from './kafkajs-workarounds.js';

/** Loaded at its first use: a process without brokers does not load it. */
export const loadKafka = async () => (await import('kafkajs')).default;

type KafkaClient = InstanceType<Awaited<ReturnType<typeof loadKafka>>['Kafka']>;

/** Opens a client of the brokers. Each producer and consumer has its own; `retries` bounds its attempts to connect. */
export type OpenKafka = (retries?: number) => Promise<KafkaClient>;

/** Runs work with an administrative client, and disconnects it. */
export async function withAdmin<T>(open: OpenKafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = (await open()).admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** Clients for the brokers of the settings. They connect when they are used. Throws ConfigError. */
export function kafkaClients(settings: KafkaSettings, logger: Logger): OpenKafka {
  const config: KafkaConfig = {
    clientId: settings.KAFKA_CLIENT_ID,
    brokers: settings.KAFKA_BROKERS,
    ...sslOf(settings),
    ...saslOf(settings),
    connectionTimeout: 3_000,
    requestTimeout: 15_000,
    logCreator: kafkaLogCreator(logger),
  };
  return async (retries = 4) => {
    const { Kafka } = await loadKafka();
    return new Kafka({ ...config, retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries } });
  };
}

function sslOf(settings: KafkaSettings): Pick<KafkaConfig, 'ssl'> {
  if (!settings.KAFKA_SSL) return {};
  if (settings.KAFKA_SSL_CA_FILE === undefined) return { ssl: true };
  try {
    return { ssl: { ca: [readFileSync(settings.KAFKA_SSL_CA_FILE, 'utf8')] } };
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new ConfigError([{ variable: 'KAFKA_SSL_CA_FILE', message: `cannot be read (${reason})` }]);
  }
}

function saslOf(settings: KafkaSettings): Pick<KafkaConfig, 'sasl'> {
  const mechanism = settings.KAFKA_SASL_MECHANISM;
  if (mechanism === undefined) return {};
  const { KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = settings;
  if (username === undefined || password === undefined) {
    const variable = username === undefined ? 'KAFKA_SASL_USERNAME' : 'KAFKA_SASL_PASSWORD';
    throw new ConfigError([{ variable, message: 'is required where KAFKA_SASL_MECHANISM is set' }]);
  }
  return { sasl: { mechanism, username, password } as SASLOptions };
}

/** The number of brokers that the cluster has. Rejects with the reason if none answers. */
export function countBrokers(settings: KafkaSettings, logger: Logger): Promise<number> {
  const open = kafkaClients(settings, logger);
  return withAdmin(
    () => open(1),
    async (admin) => (await admin.describeCluster()).brokers.length,
  );
}
