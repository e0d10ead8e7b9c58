import {
  createLogger,
  createMetrics,
  type RunnableService,
  type RunningServer,
  runService,
  serve,
  serveMetrics,
} from '@ecf/service-kit';
import { createReception } from './app.js';
import { readReceptionConfig } from './config.js';

await runService('reception', () => {
  const config = readReceptionConfig(process.env);
  const logger = createLogger({ service: 'reception', level: config.LOG_LEVEL });
  const metrics = createMetrics({ processMetrics: true });
  const reception = createReception(config, { logger, metrics });
  const servers: RunningServer[] = [];
  const service: RunnableService = {
    async start() {
      await reception.start();
      servers.push(await serve(reception.app, { host: config.HOST, port: config.PORT }));
      logger.info({ url: servers[0]?.url }, 'reception listening');
      if (config.METRICS_PORT !== undefined) {
        servers.push(await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger }));
      }
    },
    async stop() {
      for (const server of servers) await server.stop();
      await reception.stop();
    },
  };
  return service;
});
