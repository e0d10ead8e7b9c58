import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { createHttpApp } from './http-app.js';
import { type RunningServer, serve } from './http-server.js';

/** Serves `GET /metrics` in Prometheus' text format on its own port. */
export function serveMetrics(
  metrics: Metrics,
  options: { host: string; port: number; logger: Logger },
): Promise<RunningServer> {
  const app = createHttpApp({
    logger: options.logger,
    maxBodyBytes: 0,
    routes: (routes) => {
      routes.get('/metrics', async (_req, res) => {
        res.setHeader('content-type', metrics.registry.contentType);
        res.end(await metrics.render());
      });
    },
  });
  return serve(app, { host: options.host, port: options.port });
}
