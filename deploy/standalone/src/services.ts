import { createApprovals, readApprovalsConfig } from '@ecf/approvals';
import {
  checkSimulatorSettings,
  type DataFolder,
  DEMO_BUYER,
  type Environment,
  serviceEnvironment,
} from '@ecf/deployment';
import { createEmission, emissionConfig } from '@ecf/emission';
import { createGateway, createInProcessUpstream, readGatewayConfig } from '@ecf/gateway';
import { createQuery, readQueryConfig } from '@ecf/query';
import { createReception, readReceptionConfig } from '@ecf/reception';
import type { Bus } from '@ecf/service-kit/bus';
import type { ConfigProblems } from '@ecf/service-kit/config';
import { makeServiceKeys } from '@ecf/service-kit/security';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { XmlStore } from '@ecf/service-kit/xml-store';
import { createStatusPoller, readStatusPollerConfig } from '@ecf/status-poller';
import type { readStandaloneConfig } from './config.js';

/** Adds the addresses of database and authority to the settings of a service. */
export type Placed = <C>(service: string, read: C) => C;

/** The parts that all services of this process share. */
export interface SharedServiceParts {
  readonly bus: Bus;
  readonly archive: XmlStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: () => Date;
}

/**
 * Creates all services and connects them by direct calls in place of HTTP. Starts none of them; `behindGateway` is the order in
 * which they start.
 */
export function createServices(placed: Placed, settings: ReturnType<typeof readServices>, shared: SharedServiceParts) {
  // The gateway is created last, because it calls the others. They call it only while it runs.
  const taxpayers = {
    account: (accountId: string) => gateway.taxpayerSource.account(accountId),
    taxpayer: (rnc: string) => gateway.taxpayerSource.taxpayer(rnc),
  };
  const emission = createEmission(placed('emission', settings.emission), {
    ...shared,
    accounts: { fetch: taxpayers.account },
  });
  const reception = createReception(placed('reception', settings.reception), {
    ...shared,
    source: taxpayers,
  });
  const statusPoller = createStatusPoller(placed('status-poller', settings.statusPoller), {
    ...shared,
    emission: emission.followUps,
  });
  const query = createQuery(placed('query', settings.query), {
    ...shared,
    emission: emission.internal,
    reception: reception.internal,
    stored: { emission: emission.stored, reception: reception.stored },
    outcomes: {
      pageOfDeliveries: (page) => approvals.outcomes.pageOfDeliveries(page),
      pageOfDecisions: (page) => approvals.outcomes.pageOfDecisions(page),
    },
    taxpayers,
  });
  const approvals = createApprovals(placed('approvals', settings.approvals), {
    ...shared,
    emission: emission.internal,
    issued: emission.stored,
    signing: emission.signing,
    reception: reception.internal,
    source: taxpayers,
  });
  const gateway = createGateway(placed('gateway', settings.gateway), {
    ...shared,
    onlyInstance: true,
    deliveries: approvals.internal,
    owners: {
      resolution: emission.resolution,
      readModels: query.internal,
      webhooks: query.webhooks,
      archive: { emission: emission.stored, reception: reception.stored, approvals: approvals.stored },
      masterKeys: {
        emission: emission.masterKeys,
        reception: reception.masterKeys,
        approvals: approvals.masterKeys,
        query: query.masterKeys,
      },
    },
    upstreams: {
      emission: createInProcessUpstream(emission),
      'status-poller': createInProcessUpstream(statusPoller),
      reception: createInProcessUpstream(reception),
      approvals: createInProcessUpstream(approvals),
      query: createInProcessUpstream(query),
    },
  });
  return { gateway, behindGateway: [emission, statusPoller, reception, approvals, query] };
}

/**
 * Reads the settings of every service; the addresses of database and authority follow by {@link Placed}.
 * Throws ConfigError that names every error in them and in the simulator's settings.
 */
export function readServices(
  problems: ConfigProblems,
  env: Environment,
  config: ReturnType<typeof readStandaloneConfig>,
  secrets: ReturnType<DataFolder['secrets']> | null,
) {
  const places = {
    databaseUrl: () => 'postgresql://127.0.0.1/ecf',
    // The address of the simulator is not known yet.
    authorityUrl: config.AUTHORITY_URL ?? (config.SANDBOX ? 'http://127.0.0.1' : undefined),
    signerRnc: DEMO_BUYER.rnc,
  };
  // All services are of this process: their keys live as long as it does.
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
