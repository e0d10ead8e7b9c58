import {
  createLogger,
  createMetrics,
  type RunnableService,
  type RunningServer,
  runService,
  serve,
  serveMetrics,
} from '@ecf/service-kit';
import { createStatusPoller } from './app.js';
import { readStatusPollerConfig } from './config.js';

await runService('status-poller', () => {
  const config = readStatusPollerConfig(process.env);
  const logger = createLogger({ service: 'status-poller', level: config.LOG_LEVEL });
  const metrics = createMetrics({ processMetrics: true });
  const poller = createStatusPoller(config, { logger, metrics });
  const servers: RunningServer[] = [];
  const service: RunnableService = {
    async start() {
      await poller.start();
      servers.push(await serve(poller.app, { host: config.HOST, port: config.PORT }));
      logger.info({ url: servers[0]?.url }, 'status poller listening');
      if (config.METRICS_PORT !== undefined) {
        servers.push(await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger }));
      }
    },
    async stop() {
      for (const server of servers) await server.stop();
      await poller.stop();
    },
  };
  return service;
});
