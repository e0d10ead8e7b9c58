import { describeSetting, readConfig, setting } from '@ecf/kit';
import { z } from 'zod';

const ADDRESS = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/;

/**
 * The settings of the bus, to be spread into the settings of a service. Without KAFKA_BROKERS events stay inside the
 * process.
 */
export const busSettings = {
  KAFKA_BROKERS: describeSetting(
    z
      .string()
      .transform((text) => text.split(',').map((part) => part.trim()))
      .pipe(z.array(z.string().regex(ADDRESS)).min(1))
      .optional(),
    {
      description: 'Addresses of Kafka brokers; unset = events stay inside the process',
      allowed: 'host:port, several separated by commas',
    },
  ) as unknown as z.ZodType<string[] | undefined>,
  KAFKA_CLIENT_ID: setting.text({ description: 'Client name of this process at the brokers', default: 'ecf' }),
  KAFKA_TOPIC_PREFIX: describeSetting(
    z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,60}$/)
      .optional(),
    {
      description: 'Prefix of topics and consumer groups, if deployments share brokers',
      allowed: 'up to 60 letters, digits, dots, hyphens and underscores',
    },
  ) as unknown as z.ZodType<string | undefined>,
  KAFKA_CREATE_TOPICS: setting.flag({
    description: 'Whether the service creates missing topics; otherwise they must exist',
    default: true,
  }),
  KAFKA_REPLICATION: setting.optionalInteger({
    description: 'Copies of each topic that is created; unset = the default of the brokers',
    min: 1,
    max: 9,
  }),
  KAFKA_SSL: setting.flag({ description: 'Whether connections to the brokers use TLS', default: false }),
  KAFKA_SSL_CA_FILE: setting.optionalText({
    description: 'PEM file of the certificate authorities of the brokers; unset = those of Node',
  }),
  KAFKA_SASL_MECHANISM: setting.optionalOneOf(['plain', 'scram-sha-256', 'scram-sha-512'], {
    description: 'SASL mechanism of the login at the brokers; unset = no login',
  }),
  KAFKA_SASL_USERNAME: setting.optionalText({ description: 'User at the brokers' }),
  KAFKA_SASL_PASSWORD: setting.optionalText({ description: 'Password at the brokers', secret: true }),
};

const schema = z.object(busSettings);

/** The settings of the bus as read. */
export type BusSettings = z.infer<typeof schema>;

/** The settings of a bus over Kafka. */
export type KafkaSettings = BusSettings & { KAFKA_BROKERS: string[] };

/** True if the settings name brokers. */
export function usesKafka(settings: BusSettings): settings is KafkaSettings {
  return settings.KAFKA_BROKERS !== undefined;
}

/** Reads the settings of the bus from the environment. Throws ConfigError. */
export function readBusSettings(env: Record<string, string | undefined>): BusSettings {
  return readConfig(z.object(busSettings), env);
}
