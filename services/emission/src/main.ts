import {
  createLogger,
  createMetrics,
  type RunnableService,
  type RunningServer,
  runService,
  serve,
  serveMetrics,
} from '@ecf/service-kit';
import { createEmission, type Emission } from './app.js';
import { emissionConfig } from './config.js';

await runService('emission', () => {
  const config = emissionConfig(process.env);
  const logger = createLogger({ service: 'emission', level: config.LOG_LEVEL });
  const metrics = createMetrics({ processMetrics: true });
  const servers: RunningServer[] = [];
  let emission: Emission | null = null;
  const service: RunnableService = {
    async start() {
      emission = await createEmission(config, { logger, metrics });
      await emission.start();
      servers.push(await serve(emission.app, { host: config.HOST, port: config.PORT }));
      logger.info({ url: servers[0]?.url }, 'emission listening');
      if (config.METRICS_PORT !== undefined) {
        servers.push(await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger }));
      }
    },
    async stop() {
      for (const server of servers) await server.stop();
      await emission?.stop();
    },
  };
  return service;
});
