import type { RequestListener } from 'node:http';
import { type RunningServer, serve, serveMetrics } from '@ecf/http';
import { createLogger, createMetrics, type Logger, type Metrics } from '@ecf/kit/telemetry';
import { runService } from './run-service.js';

/** A service as its composition root gives it: it opens no connection before `start`, and does not listen on a port itself. */
export interface HttpService {
  readonly app: RequestListener;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The settings that every service process reads. */
export interface ProcessConfig {
  HOST: string;
  PORT: number;
  METRICS_PORT?: number | undefined;
  LOG_LEVEL: string;
}

/**
 * Runs a service as its own process until a signal ends it (see {@link runService}). Settings come from the environment;
 * interface and metrics have a port each. Requests in flight are answered before the service stops.
 */
export function runHttpService<C extends ProcessConfig>(
  name: string,
  readConfig: (env: NodeJS.ProcessEnv) => C,
  create: (config: C, own: { logger: Logger; metrics: Metrics }) => HttpService | Promise<HttpService>,
): Promise<void> {
  return runService(name, () => {
    const config = readConfig(process.env);
    const logger = createLogger({ service: name, level: config.LOG_LEVEL });
    const metrics = createMetrics({ processMetrics: true });
    const servers: RunningServer[] = [];
    let service: HttpService | null = null;
    return {
      async start() {
        service = await create(config, { logger, metrics });
        await service.start();
        // The gateway bounds the time of a body (REQUEST_TIMEOUT_MS), which differs between installations.
        const server = await serve(service.app, { host: config.HOST, port: config.PORT, timeouts: { request: 0 } });
        servers.push(server);
        if (config.METRICS_PORT !== undefined)
          servers.push(await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger }));
        logger.info({ url: server.url, metrics_url: servers[1]?.url }, `${name} listening`);
      },
      async stop() {
        for (const server of servers) await server.stop();
        await service?.stop();
      },
    };
  });
}
