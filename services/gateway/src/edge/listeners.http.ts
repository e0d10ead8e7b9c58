import type { RequestListener } from 'node:http';
import { type RunningServer, serve, serveMetrics } from '@ecf/http';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { GatewayConfig } from '../config.js';

/** Milliseconds beyond the longest wait for a service after which a connection without a byte is closed. */
const INACTIVITY_MARGIN_MS = 60_000;

export interface ListenerParts {
  readonly config: GatewayConfig;
  readonly app: RequestListener;
  /** Null if `/admin` has no separate listener. */
  readonly adminApp: RequestListener | null;
  readonly metrics: Metrics;
  /** Whether this gateway serves the metrics of the process. */
  readonly servesMetrics: boolean;
  readonly logger: Logger;
}

export interface Started {
  url: string;
  /** Null if `/admin` has no separate listener. */
  adminUrl: string | null;
}

/** The listeners of the gateway: requests, and where they are configured, metrics and `/admin`. */
export function createListeners(parts: ListenerParts) {
  const { config, metrics, logger } = parts;
  let server: RunningServer | null = null;
  let metricsServer: RunningServer | null = null;
  let adminServer: RunningServer | null = null;
  return {
    async start(): Promise<Started> {
      if (config.METRICS_PORT !== undefined && parts.servesMetrics)
        metricsServer = await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger });
      if (parts.adminApp !== null && config.ADMIN_PORT !== undefined)
        adminServer = await listen(parts, parts.adminApp, config.ADMIN_HOST ?? config.HOST, config.ADMIN_PORT);
      server = await listen(parts, parts.app, config.HOST, config.PORT);
      logger.info({ url: server.url, admin_url: adminServer?.url }, 'gateway listening');
      return { url: server.url, adminUrl: adminServer?.url ?? null };
    },
    /** Stops listening, and waits for requests in flight. */
    async stop(): Promise<void> {
      await server?.stop();
      await adminServer?.stop();
      await metricsServer?.stop();
    },
  };
}

function listen(
  { config, metrics, logger }: ListenerParts,
  app: RequestListener,
  host: string,
  port: number,
): Promise<RunningServer> {
  const refused = metrics.counter({
    name: 'ecf_gateway_refused_connections_total',
    help: 'Connections closed immediately because MAX_CONNECTIONS were open.',
  });
  const unreadable = metrics.counter({
    name: 'ecf_gateway_unreadable_requests_total',
    help: 'Answers to input that is not a request: not HTTP (400), CONNECT (405), not complete in time (408), too large headers (431).',
    labels: ['status'],
  });
  return serve(app, {
    host,
    port,
    timeouts: {
      headers: config.HEADERS_TIMEOUT_MS,
      request: config.REQUEST_TIMEOUT_MS,
      inactivity: config.UPSTREAM_TIMEOUT_MS + INACTIVITY_MARGIN_MS,
      drain: config.DRAIN_TIMEOUT_MS,
    },
    maxConnections: config.MAX_CONNECTIONS,
    onRefusedConnection: () => refused.inc(),
    onClientError: (answer, sender) => {
      unreadable.inc({ status: String(answer.status) });
      logger.info({ ...answer, sender }, 'answered bytes that were not a request');
    },
  });
}
