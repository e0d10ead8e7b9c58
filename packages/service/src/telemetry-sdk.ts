import type { IncomingMessage } from 'node:http';
import { ExpressInstrumentation, ExpressLayerType } from '@opentelemetry/instrumentation-express';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { TELEMETRY } from './telemetry-stop.js';

/**
 * Traces of HTTP, express, PostgreSQL and Redis, exported as the standard `OTEL_*` variables say. Metrics and logs have their own
 * ways; `stopTelemetry` sends what is left at the end. Spans carry no header, no body and no parameter of a query.
 */
export function startTelemetry(): void {
  const sdk = new NodeSDK({
    serviceName: process.env.OTEL_SERVICE_NAME ?? programName(process.argv[1] ?? ''),
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: (request: IncomingMessage) => /^\/(health\/|metrics)/.test(request.url ?? ''),
      }),
      new ExpressInstrumentation({ ignoreLayersType: [ExpressLayerType.MIDDLEWARE, ExpressLayerType.ROUTER] }),
      new PgInstrumentation({ requireParentSpan: true }),
      new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
    ],
  });
  sdk.start();
  (globalThis as { [TELEMETRY]?: NodeSDK })[TELEMETRY] = sdk;
}

/** `gateway` for services/gateway/dist/main.js, and so on; `ecf` for anything else. */
function programName(file: string): string {
  return /[/\\](?:services|deploy|packages)[/\\]([\w-]+)[/\\]dist[/\\]/.exec(file)?.[1] ?? 'ecf';
}
