import { onAnswerEnd, requestNames } from '@ecf/http';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { RequestHandler } from 'express';
import { callOf } from './edge.http.js';

/** Logged and counted instead of a status if the caller or the gateway cut the answer off. */
const ABORTED = 499;

/** One line in the log and one observation in the metrics for every request, after its answer was sent or cut off. */
export function accessLog(logger: Logger, metrics: Metrics): RequestHandler {
  const duration = metrics.histogram({
    name: 'ecf_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer',
    labels: ['service', 'operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  return (req, res, next) => {
    const began = performance.now();
    onAnswerEnd(res, (complete) => {
      const call = callOf(res);
      const { holder, env, sender } = call;
      const operation = (call.operation ?? call.adminOperation)?.id ?? 'other';
      const ms = performance.now() - began;
      const status = complete ? res.statusCode : ABORTED;
      duration.observe({ service: 'gateway', operation, status: String(status) }, ms / 1_000);
      const { request_id, trace_id } = requestNames(req);
      logger.info(
        {
          request_id,
          trace_id,
          method: req.method,
          operation,
          status,
          ms: Math.round(ms * 100) / 100,
          account_id: holder?.accountId,
          key_id: holder?.keyId,
          actor: call.administrator?.name,
          env,
          sender,
          aborted: complete ? undefined : true,
        },
        complete ? 'answered' : 'aborted',
      );
    });
    next();
  };
}

/** Headers of an interface of JSON and XML: browsers and caches do not store, frame, sniff or run it. */
export const securityHeaders: RequestHandler = (_req, res, next) => {
  res.setHeader('cache-control', 'no-store');
  res.setHeader('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  res.setHeader('referrer-policy', 'no-referrer');
  res.setHeader('x-content-type-options', 'nosniff');
  next();
};
