import { createApprovals } from '@ecf/approvals';
import type { XmlStore } from '@ecf/archive';
import type { Bus } from '@ecf/bus';
import { createEmission } from '@ecf/emission';
import { createGateway, createInProcessUpstream } from '@ecf/gateway';
import type { BodiesInFlight } from '@ecf/http';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { createQuery } from '@ecf/query';
import { createReception } from '@ecf/reception';
import { createStatusPoller } from '@ecf/status-poller';
import type { readServices } from './read-services.js';

/** Adds the addresses of database and authority to the settings of a service. */
export type Placed = <C>(service: string, read: C) => C;

/** The parts that all services of this process share. */
export interface DeploymentDependencies {
  readonly bus: Bus;
  readonly archive: XmlStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** The folder of the database, if this process runs it. */
  readonly databaseFolder?: string;
  readonly bodies: BodiesInFlight;
}

/**
 * Creates all services and connects them by direct calls in place of HTTP. Starts none of them; `behindGateway` is the order in
 * which they start.
 */
export function createServices(
  placed: Placed,
  settings: ReturnType<typeof readServices>,
  shared: DeploymentDependencies,
) {
  // The gateway is created last, because it calls the others. They call it only while it runs.
  const taxpayers = {
    account: (accountId: string) => gateway.taxpayerSource.account(accountId),
    taxpayer: (rnc: string) => gateway.taxpayerSource.taxpayer(rnc),
    logo: (rnc: string) => gateway.taxpayerSource.logo(rnc),
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
    reception: reception.internal,
    source: taxpayers,
  });
  const gateway = createGateway(placed('gateway', settings.gateway), {
    ...shared,
    onlyInstance: true,
    operations: {
      resolution: emission.resolution,
      deliveries: approvals.internal,
      readModels: query.internal,
      webhooks: query.webhooks,
      archive: { emission: emission.stored, reception: reception.stored, approvals: approvals.stored },
      state: {
        emission: emission.state,
        'status-poller': statusPoller.state,
        reception: reception.state,
        approvals: approvals.state,
        query: query.state,
      },
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
