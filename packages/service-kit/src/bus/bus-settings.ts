import { z } from 'zod';
import { describeSetting, readConfig, setting } from '../config/config.js';

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
  KAFKA_CLIENT_ID: setting.text({ description: 'Name by which this process shows up at the brokers', default: 'ecf' }),
  KAFKA_TOPIC_PREFIX: describeSetting(
    z
      .string()
      .regex(/^[A-Za-z0-9._-]{1,60}$/)
      .optional(),
    {
      description: 'Put before the names of topics and consumer groups, where deployments share brokers',
      allowed: 'up to 60 letters, digits, dots, hyphens and underscores',
    },
  ) as unknown as z.ZodType<string | undefined>,
  KAFKA_CREATE_TOPICS: setting.flag({
    description: 'Whether missing topics are created; otherwise they must be there',
    default: true,
  }),
  KAFKA_REPLICATION: setting.optionalInteger({
    description: 'Copies of each topic that is created; unset = as the brokers are set',
    min: 1,
    max: 9,
  }),
  KAFKA_SSL: setting.flag({ description: 'Whether brokers are spoken to by TLS', default: false }),
  KAFKA_SSL_CA_FILE: setting.optionalText({
    description: 'PEM file of the authorities that brokers are certified by; unset = those that Node knows',
  }),
  KAFKA_SASL_MECHANISM: setting.optionalOneOf(['plain', 'scram-sha-256', 'scram-sha-512'], {
    description: 'How this process logs in at the brokers; unset = without',
  }),
  KAFKA_SASL_USERNAME: setting.optionalText({ description: 'User at the brokers' }),
  KAFKA_SASL_PASSWORD: setting.optionalText({ description: 'Password at the brokers', secret: true }),
};

const schema = z.object(busSettings);

/** The settings of the bus as read. */
export type BusSettings = z.infer<typeof schema>;

/** Those of a bus over Kafka. */
export type KafkaSettings = BusSettings & { KAFKA_BROKERS: string[] };

/** True where the settings name brokers. */
export function usesKafka(settings: BusSettings): settings is KafkaSettings {
  return settings.KAFKA_BROKERS !== undefined;
}

/** Reads the settings of the bus from the environment. Throws ConfigError. */
export function readBusSettings(env: Record<string, string | undefined>): BusSettings {
  return readConfig(z.object(busSettings), env);
}
