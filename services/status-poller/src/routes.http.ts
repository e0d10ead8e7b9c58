import { errorCodeEntry, trackIdSchema } from '@ecf/contracts';
import { createServiceApp, type ServiceAppOptions, type ServiceRoute, sendObject } from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import { ApiError, InvalidRequest } from '@ecf/kit';
import { isDatabaseUnavailable } from '@ecf/postgres';
import type { ErrorRequestHandler, Express, Request, Response } from 'express';
import { type InvoiceStatusQuery, StatusError } from './invoice-status.js';

/** The service's one public route, `GET /invoice-status/{track_id}`, and its health. */
export function createStatusApp(invoiceStatus: InvoiceStatusQuery, options: ServiceAppOptions): Express {
  async function answer(req: Request, res: Response): Promise<void> {
    const { account_id: accountId, env, taxpayers } = identityOf(req);
    const trackId = readTrackId(req.params.trackId);
    sendObject(req, res, await invoiceStatus({ accountId, taxpayers, env, trackId }));
  }
  const routes: readonly ServiceRoute[] = [['get', '/invoice-status/:trackId', 'account', answer]];
  return createServiceApp(options, { routes, internal: [], mapErrors: answerErrors });
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
