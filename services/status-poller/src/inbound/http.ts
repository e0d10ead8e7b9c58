import { errorCodeEntry, trackIdSchema } from '@ecf/contracts';
import {
  ApiError,
  createHttpApp,
  healthRoutes,
  InvalidRequest,
  identityOf,
  isDatabaseUnavailable,
  type Logger,
  type Readiness,
  requireIdentity,
} from '@ecf/service-kit';
import type { ErrorRequestHandler, Express } from 'express';
import { StatusError } from '../core/errors.js';
import type { InvoiceStatusQuery } from '../core/invoice-status.js';

export interface HttpOptions {
  readonly invoiceStatus: InvoiceStatusQuery;
  readonly logger: Logger;
  readonly identityKey: Uint8Array;
  readonly clock: () => Date;
  readonly ready: () => Promise<Readiness>;
}

/** The service's one public route, `GET /invoice-status/{track_id}`, and its health. */
export function createStatusApp(options: HttpOptions): Express {
  return createHttpApp({
    logger: options.logger,
    maxBodyBytes: 0,
    routes(app) {
      app.use(healthRoutes(options.ready));
      const guard = requireIdentity({ key: options.identityKey, clock: options.clock, kinds: ['account'] });
      app.get('/invoice-status/:trackId', guard, async (req, res) => {
        const { account_id: accountId, env } = identityOf(req);
        const trackId = readTrackId(req.params.trackId);
        res.setHeader('cache-control', 'no-store');
        res.json(await options.invoiceStatus({ accountId, env, trackId }));
      });
      app.use(answerErrors);
    },
  });
}

function readTrackId(text: unknown): string {
  const read = trackIdSchema.safeParse(text);
  if (read.success) return read.data;
  const msg = read.error.issues[0]?.message ?? 'this is not a trackId';
  throw new InvalidRequest([{ loc: ['path', 'track_id'], msg, type: 'track_id' }]);
}

const answerErrors: ErrorRequestHandler = (error, _req, _res, next) => {
  if (error instanceof StatusError) {
    next(new ApiError(errorCodeEntry(error.code).status, error.code, error.message, { cause: error }));
  } else if (isDatabaseUnavailable(error)) {
    const detail = 'The database of this service cannot be reached. Repeat shortly.';
    next(new ApiError(503, 'service_unavailable', detail, { cause: error }));
  } else next(error);
};
