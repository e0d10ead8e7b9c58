import {
  createLogger,
  createMetrics,
  type RunnableService,
  type RunningServer,
  runService,
  serve,
  serveMetrics,
} from '@ecf/service-kit';
import { createQuery } from './app.js';
import { readQueryConfig } from './config.js';

await runService('query', () => {
  const config = readQueryConfig(process.env);
  const logger = createLogger({ service: 'query', level: config.LOG_LEVEL });
  const metrics = createMetrics({ processMetrics: true });
  const query = createQuery(config, { logger, metrics });
  const servers: RunningServer[] = [];
  const service: RunnableService = {
    async start() {
      await query.start();
      servers.push(await serve(query.app, { host: config.HOST, port: config.PORT }));
      logger.info({ url: servers[0]?.url }, 'query listening');
      if (config.METRICS_PORT !== undefined) {
        servers.push(await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger }));
      }
    },
    async stop() {
      for (const server of servers) await server.stop();
      await query.stop();
    },
  };
  return service;
});
