import { ConfigError, identityKeyFrom, readConfig, setting } from '@ecf/service-kit';
import { z } from 'zod';

/** Every setting of the query service. */
export const querySettings = z.object({
  HOST: setting.text({ description: 'Address to listen on; containers set 0.0.0.0', default: '127.0.0.1' }),
  PORT: setting.integer({ description: 'Port to listen on; 0 takes any free one', min: 0, max: 65_535, default: 8085 }),
  METRICS_PORT: setting.optionalInteger({
    description: 'Port of GET /metrics; 0 takes any free one, unset = no metrics',
    min: 0,
    max: 65_535,
  }),
  DATABASE_URL: setting.url({
    description:
      'The database of the service; it is created where the user may do so. A rebuild makes a schema in it for its time',
    protocols: ['postgresql:', 'postgres:'],
    secret: true,
  }),
  DATABASE_CONNECTIONS: setting.integer({
    description: 'Connections to the database at most',
    min: 2,
    max: 500,
    default: 12,
  }),
  DATA_DIR: setting.text({ description: 'Folder of stored XML', default: '.data' }),
  MASTER_KEY: setting.optionalBase64Key({
    description: 'The key of the deployment; only read where IDENTITY_KEY is unset',
    bytes: 32,
  }),
  IDENTITY_KEY: setting.optionalBase64Key({
    description: 'Signs the identity between gateway and services; derived from MASTER_KEY where unset',
    bytes: 32,
  }),
  GATEWAY_URL: setting.optionalUrl({
    description: 'Address of the gateway, asked about taxpayers that changed a moment ago; unset = only events count',
  }),
  EMISSION_URL: setting.optionalUrl({
    description: 'Address of emission: recent changes, present states, the authority’s tokens and raw answers',
  }),
  RECEPTION_URL: setting.optionalUrl({
    description:
      'Address of reception: received documents whose event is still on its way, and all of them for a rebuild',
  }),
  OWNER_TIMEOUT_MS: setting.integer({
    description: 'Milliseconds to wait for emission or reception before an answer is given without them',
    min: 50,
    max: 60_000,
    default: 2_000,
  }),
  AUTHORITY_URL: setting.optionalUrl({ description: 'A simulator of the authority; unset: the official hosts' }),
  AUTHORITY_TIMEOUT_MS: setting.integer({
    description: "Milliseconds to wait for the authority's answer to one call",
    default: 20_000,
    min: 100,
    max: 120_000,
  }),
  STATUS_KEY: setting.optionalText({
    description: "Key of the authority's status service; unset = /monitoring/status answers 503",
    secret: true,
  }),
  LOG_LEVEL: setting.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    description: 'What is logged',
    default: 'info',
  }),
});

/** The settings, with the key of the signed identities. */
export type QueryConfig = z.infer<typeof querySettings> & { identityKey: Uint8Array };

/** Reads the service's configuration from environment variables; throws ConfigError naming every variable at fault. */
export function readQueryConfig(env: Record<string, string | undefined>): QueryConfig {
  const settings = readConfig(querySettings, env);
  const key =
    settings.IDENTITY_KEY ?? (settings.MASTER_KEY === undefined ? null : identityKeyFrom(settings.MASTER_KEY));
  if (key === null)
    throw new ConfigError([
      { variable: 'IDENTITY_KEY', message: 'is required where MASTER_KEY is unset; allowed: 32 bytes in base64' },
    ]);
  return { ...settings, identityKey: key };
}
