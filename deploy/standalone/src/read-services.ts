import { readApprovalsConfig } from '@ecf/approvals';
import {
  checkSimulatorSettings,
  DEMO_BUYER,
  type DeploymentConfig,
  type Environment,
  type Secrets,
  serviceEnvironment,
} from '@ecf/deployment';
import { emissionConfig } from '@ecf/emission';
import { readGatewayConfig } from '@ecf/gateway';
import { makeServiceKeys } from '@ecf/http/identity';
import type { ConfigProblems } from '@ecf/kit';
import { readQueryConfig } from '@ecf/query';
import { readReceptionConfig } from '@ecf/reception';
import { readStatusPollerConfig } from '@ecf/status-poller';

/**
 * Reads the settings of every service; the addresses of database and authority follow by {@link Placed}.
 * Throws ConfigError that names every error in them and in the simulator's settings.
 */
export function readServices(
  problems: ConfigProblems,
  env: Environment,
  config: DeploymentConfig,
  secrets: Secrets | null,
) {
  const places = {
    databaseUrl: () => 'postgresql://127.0.0.1/ecf',
    // The address of the simulator is not known yet.
    authorityUrl: config.AUTHORITY_URL ?? (config.SANDBOX ? 'http://127.0.0.1' : undefined),
    signerRnc: DEMO_BUYER.rnc,
  };
  // Where all services are of one process, their keys live as long as it does.
  const keys = makeServiceKeys();
  const settingsOf = (service: keyof typeof keys) => ({
    ...serviceEnvironment(service, env, config, secrets, places),
    ...keys[service],
  });
  return problems.readAll({
    gateway: () => readGatewayConfig(settingsOf('gateway')),
    emission: () => emissionConfig(settingsOf('emission')),
    reception: () => readReceptionConfig(settingsOf('reception')),
    statusPoller: () => readStatusPollerConfig(settingsOf('status-poller')),
    query: () => readQueryConfig(settingsOf('query')),
    approvals: () => readApprovalsConfig(settingsOf('approvals')),
    simulator: () => {
      if (secrets !== null && config.AUTHORITY_URL === undefined) checkSimulatorSettings(env as NodeJS.ProcessEnv);
    },
  });
}
