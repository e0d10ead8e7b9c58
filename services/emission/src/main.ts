import { createLogger, createMetrics, serve, serveMetrics } from '@ecf/service-kit';
import { createEmission } from './app.js';
import { emissionConfig } from './config.js';

const config = emissionConfig(process.env);
const logger = createLogger({ service: 'emission', level: config.LOG_LEVEL });
const metrics = createMetrics({ processMetrics: true });
const emission = await createEmission(config, { logger, metrics });
await emission.start();
const server = await serve(emission.app, { host: config.HOST, port: config.PORT });
const metricsServer =
  config.METRICS_PORT === undefined
    ? null
    : await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger });
logger.info({ url: server.url, metrics_url: metricsServer?.url ?? null }, 'ready');

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, async () => {
    if (stopping) return;
    stopping = true;
    await server.stop();
    await emission.stop();
    await metricsServer?.stop();
    process.exit(0);
  });
}
