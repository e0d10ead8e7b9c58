import { ConfigError, identityKeyFrom, readConfig, setting } from '@ecf/service-kit';
import { z } from 'zod';

/** Every setting of the status poller. */
export const statusPollerSettings = z.object({
  HOST: setting.text({ description: 'Address to listen on; containers set 0.0.0.0', default: '127.0.0.1' }),
  PORT: setting.integer({ description: 'Port to listen on; 0 takes any free one', min: 0, max: 65_535, default: 8082 }),
  METRICS_PORT: setting.optionalInteger({
    description: 'Port of GET /metrics; 0 takes any free one, unset = no metrics',
    min: 0,
    max: 65_535,
  }),
  DATABASE_URL: setting.url({
    description: 'The database of the service; it is created where the user may do so',
    protocols: ['postgresql:', 'postgres:'],
    secret: true,
  }),
  DATABASE_CONNECTIONS: setting.integer({
    description: 'Connections to the database at most',
    min: 2,
    max: 500,
    default: 8,
  }),
  MASTER_KEY: setting.optionalBase64Key({
    description: 'Key that IDENTITY_KEY is derived from where that is unset; one of the two is required',
    bytes: 32,
  }),
  IDENTITY_KEY: setting.optionalBase64Key({
    description: "Key of the gateway's signed identities; unset = derived from MASTER_KEY",
    bytes: 32,
  }),
  EMISSION_URL: setting.optionalUrl({
    description:
      'Address of emission, asked for tokens and for submissions of a moment ago; required unless in one process',
  }),
  AUTHORITY_URL: setting.optionalUrl({ description: 'A simulator of the authority; unset = the official hosts' }),
  AUTHORITY_TIMEOUT_MS: setting.integer({
    description: "Milliseconds to wait for the authority's answer to one question",
    min: 100,
    max: 120_000,
    default: 20_000,
  }),
  FIRST_QUERY_MS: setting.integer({
    description:
      'Milliseconds from a submission to the first question for its result; each further pause doubles, up to an hour',
    min: 10,
    max: 600_000,
    default: 5_000,
  }),
  STATUS_BUDGET_MS: setting.integer({
    description: 'Milliseconds that GET /invoice-status waits for the authority before it answers what is known',
    min: 50,
    max: 60_000,
    default: 3_000,
  }),
  STATUS_FRESH_MS: setting.integer({
    description: 'Milliseconds that an answer of the authority is given again without asking once more',
    min: 0,
    max: 60_000,
    default: 250,
  }),
  POLL_RATE: setting.integer({
    description: 'Questions a second to one environment of the authority, all instances together',
    min: 1,
    max: 1_000,
    default: 50,
  }),
  POLL_CONCURRENCY: setting.integer({
    description: 'Questions of one instance under way at the same time',
    min: 1,
    max: 1_000,
    default: 32,
  }),
  POLL_IDLE_MS: setting.integer({
    description: 'Milliseconds between looks for due submissions while none is known to be due',
    min: 10,
    max: 60_000,
    default: 1_000,
  }),
  POLL_LEASE_MS: setting.integer({
    description:
      'Milliseconds after which a question of an instance that ended is asked by another; longer than one question takes',
    min: 100,
    max: 3_600_000,
    default: 90_000,
  }),
  LOG_LEVEL: setting.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    description: 'Least severity that is logged',
    default: 'info',
  }),
});

export type StatusPollerConfig = z.infer<typeof statusPollerSettings>;

/** Reads the configuration; throws ConfigError naming the variable and what is allowed. */
export function readStatusPollerConfig(env: Record<string, string | undefined>): StatusPollerConfig {
  return readConfig(statusPollerSettings, env);
}

/** The key of the gateway's signed identities. Throws ConfigError where neither key is set. */
export function identityKey(config: Pick<StatusPollerConfig, 'IDENTITY_KEY' | 'MASTER_KEY'>): Uint8Array {
  if (config.IDENTITY_KEY !== undefined) return config.IDENTITY_KEY;
  if (config.MASTER_KEY !== undefined) return identityKeyFrom(config.MASTER_KEY);
  throw new ConfigError([{ variable: 'IDENTITY_KEY', message: 'is required where MASTER_KEY is not set' }]);
}
