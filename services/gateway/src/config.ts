import { busSettings } from '@ecf/bus';
import { ENVIRONMENTS, type Environment } from '@ecf/domain';
import { serviceKeySettings } from '@ecf/http/identity';
import {
  authoritySettings,
  bodySettings,
  ConfigProblems,
  databaseSettings,
  sealingSettings,
  serverSettings,
  setting,
} from '@ecf/kit';
import { cacheSettings } from '@ecf/kit/cache';
import { z } from 'zod';
import { readTrustedProxies } from './edge/sender-address.http.js';

/** Default of requests a second, outside the sandbox. */
const DEFAULT_RATE = 200;
const MEBIBYTE = 1024 * 1024;

/** Every setting of the gateway. */
export const gatewaySettings = z.object({
  ...serverSettings(8080),
  ...bodySettings,
  ...busSettings,
  ...databaseSettings(10),
  ...sealingSettings,
  ...serviceKeySettings,
  ...cacheSettings,
  SANDBOX: setting.flag({
    description: 'The deployment is a sandbox: TesteCF by default, no rate limits',
    default: false,
  }),
  AUTHORITY_URL: authoritySettings.AUTHORITY_URL,
  SIMULATED_AUTHORITY: setting.flag({
    description:
      'Whether the gateway serves production (eCF) although AUTHORITY_URL leads to a simulator. Otherwise, outside the sandbox, it refuses calls for eCF',
    default: false,
  }),
  DEFAULT_ENV: setting.optionalOneOf(ENVIRONMENTS, {
    description:
      'Environment of public routes without prefix and header; required outside the sandbox, where it is TesteCF',
  }),
  ACCESS_LOG_FILE: setting.optionalText({
    description:
      'File of the access log, one JSON object per line; unset = the process writes the accesses to its log, at level info',
  }),
  ACCESS_LOG_BYTES: setting.integer({
    description: 'Bytes at which the access log is renamed to `<file>.1` and a new file begins',
    min: 100_000,
    max: 10_737_418_240,
    default: 104_857_600,
  }),
  ACCESS_LOG_FILES: setting.integer({
    description: 'Renamed files of the access log that are kept; the oldest is deleted',
    min: 1,
    max: 1_000,
    default: 9,
  }),
  ADMIN_TOKEN: setting.optionalText({
    description: 'Bearer token of the first administrator; if unset, /admin does not exist',
    min: 16,
    secret: true,
  }),
  ADMIN_HOST: setting.optionalText({ description: 'Address that the listener of ADMIN_PORT listens on; unset = HOST' }),
  ADMIN_PORT: setting.optionalInteger({
    description:
      'Port of a separate listener for /admin, which PORT then does not serve; 0 takes any free one, unset = PORT serves /admin',
    min: 0,
    max: 65_535,
  }),
  MAX_BODY_BYTES: setting.integer({
    description: 'Largest body that is accepted, in bytes',
    min: 1024,
    max: 1024 * MEBIBYTE,
    default: 10 * MEBIBYTE,
  }),
  HEADERS_TIMEOUT_MS: setting.integer({
    description: 'Time for the headers of a request to arrive',
    min: 100,
    max: 600_000,
    default: 10_000,
  }),
  REQUEST_TIMEOUT_MS: setting.integer({
    description: 'Time for a whole request to arrive',
    min: 100,
    max: 3_600_000,
    default: 60_000,
  }),
  UPSTREAM_TIMEOUT_MS: setting.integer({
    description: 'Time without a byte from a service after which the gateway gives up',
    min: 1_000,
    max: 600_000,
    default: 120_000,
  }),
  DRAIN_TIMEOUT_MS: setting.integer({
    description: 'Time for requests in flight to end when the gateway stops',
    min: 0,
    max: 600_000,
    default: 30_000,
  }),
  RATE_LIMIT_PER_KEY: setting.optionalInteger({
    description: `Requests a second for each API key; 0 = no limit; unset = ${DEFAULT_RATE}, in the sandbox none`,
    min: 0,
    max: 1_000_000,
  }),
  RATE_LIMIT_PER_SENDER: setting.optionalInteger({
    description: `Requests a second for each sender (IPv4 address, IPv6 /64) on public routes; 0 = no limit; unset = ${DEFAULT_RATE}, in the sandbox none`,
    min: 0,
    max: 1_000_000,
  }),
  MAX_CONNECTIONS: setting.integer({
    description:
      'Most open connections; further ones are closed immediately. Limits per sender belong to the reverse proxy',
    min: 1,
    max: 1_000_000,
    default: 10_000,
  }),
  TRUSTED_PROXIES: setting.list({
    description: 'Proxies whose X-Forwarded-For counts',
    allowed: 'addresses and networks (10.0.0.0/8, ::1, loopback), separated by commas',
  }),
  EMISSION_URL: setting.optionalUrl({
    description: 'Address of the emission service; unset = not part of the deployment',
  }),
  STATUS_POLLER_URL: setting.optionalUrl({
    description: 'Address of the status poller; unset = not part of the deployment',
  }),
  RECEPTION_URL: setting.optionalUrl({
    description: 'Address of the reception service; unset = not part of the deployment',
  }),
  APPROVALS_URL: setting.optionalUrl({
    description: 'Address of the approvals service; unset = not part of the deployment',
  }),
  QUERY_URL: setting.optionalUrl({ description: 'Address of the query service; unset = not part of the deployment' }),
});

/** The settings, with the defaults that depend on SANDBOX. */
export type GatewayConfig = z.infer<typeof gatewaySettings> & {
  DEFAULT_ENV: Environment;
  RATE_LIMIT_PER_KEY: number;
  RATE_LIMIT_PER_SENDER: number;
};

/** Reads the gateway's configuration from environment variables; throws ConfigError naming every variable at fault. */
export function readGatewayConfig(env: Record<string, string | undefined>): GatewayConfig {
  const problems = new ConfigProblems();
  const settings = problems.readOn(env, gatewaySettings);
  if (settings.DEFAULT_ENV === undefined && !settings.SANDBOX)
    problems.add('DEFAULT_ENV', `is required outside the sandbox; allowed: ${ENVIRONMENTS.join(', ')}`);
  if (settings.DEFAULT_ENV === 'eCF' && !servesProduction(settings))
    problems.add(
      'DEFAULT_ENV',
      'is not allowed with AUTHORITY_URL: a simulator would answer production; unset AUTHORITY_URL, or set SIMULATED_AUTHORITY=true',
    );
  if (readTrustedProxies(settings.TRUSTED_PROXIES) === null)
    problems.add(
      'TRUSTED_PROXIES',
      'is not allowed; allowed: addresses and networks (10.0.0.0/8, ::1, loopback), separated by commas',
    );
  if (settings.ADMIN_HOST !== undefined && settings.ADMIN_PORT === undefined)
    problems.add('ADMIN_PORT', 'is required with ADMIN_HOST');
  if (settings.HEADERS_TIMEOUT_MS > settings.REQUEST_TIMEOUT_MS && !problems.has('REQUEST_TIMEOUT_MS'))
    problems.add('HEADERS_TIMEOUT_MS', 'is not allowed; allowed: at most REQUEST_TIMEOUT_MS');
  problems.refuse();
  const rate = settings.SANDBOX ? 0 : DEFAULT_RATE;
  return {
    ...settings,
    DEFAULT_ENV: settings.DEFAULT_ENV ?? 'TesteCF',
    RATE_LIMIT_PER_KEY: settings.RATE_LIMIT_PER_KEY ?? rate,
    RATE_LIMIT_PER_SENDER: settings.RATE_LIMIT_PER_SENDER ?? rate,
  };
}

/** False if a simulator would answer for production by accident. */
export function servesProduction(
  settings: Pick<z.infer<typeof gatewaySettings>, 'SANDBOX' | 'AUTHORITY_URL' | 'SIMULATED_AUTHORITY'>,
): boolean {
  return settings.SANDBOX || settings.AUTHORITY_URL === undefined || settings.SIMULATED_AUTHORITY;
}
