import { setting } from './config.js';

/** Settings that services have in common: each function or object is spread into the settings of a service. */

/** Addresses, log level and metrics of a process. */
export const serverSettings = (port: number) => ({
  HOST: setting.text({ description: 'Address to listen on; containers set 0.0.0.0', default: '127.0.0.1' }),
  PORT: setting.integer({ description: 'Port to listen on; 0 takes any free one', min: 0, max: 65_535, default: port }),
  METRICS_PORT: setting.optionalInteger({
    description: 'Port of GET /metrics; 0 takes any free one, unset = no metrics',
    min: 0,
    max: 65_535,
  }),
  LOG_LEVEL: setting.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    description: 'Least severity that is logged',
    default: 'info',
  }),
});

/** The database of a service, with its number of connections. */
export const databaseSettings = (connections: number) => ({
  DATABASE_URL: setting.url({
    description: 'The database of the service; created if the user may create it',
    protocols: ['postgresql:', 'postgres:'],
    secret: true,
  }),
  DATABASE_CONNECTIONS: setting.integer({
    description: 'Most connections to the database',
    min: 2,
    max: 500,
    default: connections,
  }),
});

/** Memory for the bodies of requests. */
export const bodySettings = {
  MAX_BODY_BYTES_IN_FLIGHT: setting.integer({
    description:
      'Bytes of request bodies that one process keeps in memory, from their arrival to the answer; a value below 16 times MAX_BODY_BYTES counts as that. Further bodies get 503 overloaded. All callers without an API key may use half of it together, one account a quarter, one API key a fifth, one sender without a key (IPv4 address, IPv6 /48) an eighth; beyond their part, an account, key or sender gets 429',
    min: 16_777_216,
    max: 1_099_511_627_776,
    default: 268_435_456,
  }),
};

/** Settings of services that call the authority. */
export const authoritySettings = {
  AUTHORITY_URL: setting.optionalUrl({
    description: 'A simulator of the authority; unset = the official hosts',
  }),
  AUTHORITY_TIMEOUT_MS: setting.integer({
    description: "Milliseconds to wait for the authority's answer to one call",
    min: 100,
    max: 120_000,
    default: 20_000,
  }),
};

/** The gateway, for those who copy taxpayers from it. */
export const gatewayAddressSettings = {
  GATEWAY_URL: setting.optionalUrl({
    description: 'Address of the gateway, queried about taxpayers that changed a moment ago; unset = only events count',
  }),
};
