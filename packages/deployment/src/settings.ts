import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { ListenAddress } from '@ecf/http';
import { setting } from '@ecf/kit';
import type { z } from 'zod';

export type Environment = Record<string, string | undefined>;

/** Settings of every deployment on one machine; all others go to the services unchanged. */
export const deploymentSettings = {
  DATA_DIR: setting.text({ description: 'Folder of all stored data', default: '.data' }),
  HOST: setting.text({ description: 'Address to listen on; containers set 0.0.0.0', default: '127.0.0.1' }),
  SANDBOX: setting.flag({
    description:
      'Start with a demo account, its taxpayers and the authority simulator; without it MASTER_KEY and DEFAULT_ENV are required',
    default: true,
  }),
  AUTHORITY_URL: setting.optionalUrl({
    description: 'A simulator of the authority; unset = its own one in the sandbox, else the official hosts',
  }),
  DATABASE_URL: setting.optionalUrl({
    description: 'A PostgreSQL server to use instead of the embedded one; each service gets its own database there',
    protocols: ['postgresql:', 'postgres:'],
    secret: true,
  }),
  LOG_LEVEL: setting.oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
    description: 'Lowest level that is logged',
    default: 'warn',
  }),
};

export type DeploymentConfig = { [K in keyof typeof deploymentSettings]: z.infer<(typeof deploymentSettings)[K]> };

/** The addresses at which a deployment listens. */
export function listenAddresses(config: {
  HOST: string;
  PORT: number;
  METRICS_PORT: number;
  ADMIN_HOST: string | undefined;
  ADMIN_PORT: number | undefined;
}): ListenAddress[] {
  const { HOST, PORT, METRICS_PORT, ADMIN_HOST = HOST, ADMIN_PORT = 0 } = config;
  return [
    { setting: 'PORT', host: HOST, port: PORT },
    { setting: 'METRICS_PORT', host: HOST, port: METRICS_PORT },
    { setting: 'ADMIN_PORT', host: ADMIN_HOST, port: ADMIN_PORT },
  ];
}

/** Secrets that a deployment without configured ones makes for itself, once, readable by its owner alone. */
export interface Secrets {
  masterKey: string;
  adminToken: string;
  statusKey: string;
}

/** Secrets that a sandbox creates if none are configured. */
export function makeSecrets(): Secrets {
  return {
    masterKey: randomBytes(32).toString('base64'),
    adminToken: randomBytes(24).toString('base64url'),
    statusKey: randomBytes(18).toString('base64url'),
  };
}

/** Addresses of the parts of a deployment, as settings of the services. */
export interface Places {
  databaseUrl(service: string): string;
  authorityUrl: string | undefined;
  signerRnc: string;
}

/** The settings of a service: the environment, with the settings that the deployment determines in place of it. */
export function serviceEnvironment(
  service: string,
  env: Environment,
  config: DeploymentConfig,
  secrets: Secrets | null,
  places: Places,
): Environment {
  const sandbox: Environment =
    secrets === null
      ? {}
      : {
          MASTER_KEY: env.MASTER_KEY || secrets.masterKey,
          ADMIN_TOKEN: env.ADMIN_TOKEN || secrets.adminToken,
          STATUS_KEY: env.STATUS_KEY || secrets.statusKey,
          RECEPTION_SIGNER_RNC: env.RECEPTION_SIGNER_RNC || places.signerRnc,
          ALLOW_PRIVATE_ADDRESSES: env.ALLOW_PRIVATE_ADDRESSES || 'true',
        };
  return {
    ...env,
    ...sandbox,
    SANDBOX: String(config.SANDBOX),
    DATA_DIR: config.DATA_DIR,
    LOG_LEVEL: config.LOG_LEVEL,
    DATABASE_URL: places.databaseUrl(service),
    ACCESS_LOG_FILE: env.ACCESS_LOG_FILE || path.join(config.DATA_DIR, 'logs', 'access.log'),
    AUTHORITY_URL: places.authorityUrl,
    // The deployment decides which processes serve metrics, and at which address.
    METRICS_PORT: undefined,
  };
}
