export {
  type BodiesInFlight,
  type BodyInFlight,
  countBodies,
  createBodiesInFlight,
  dropRest,
} from './body/bodies-in-flight.js';
export { limitBody, operationBodyTooLarge, tooManyTinyChunks } from './body/body-limit.js';
export { jsonBody, unreadableIsInvalid } from './body/json-body.js';
export { type BodyLimits, JoinedChunks, readBody, readPieces, requestOf } from './body/read-body.js';
export { errorHandler, toApiError, unknownRoute } from './error-handler.js';
export { findByNumber } from './find-by-number.js';
export { checkReadiness, healthRoutes, type Readiness, rememberReadiness, writerReadiness } from './health.js';
export { createExpressApp, createHttpApp, sendDocument, sendObject, writeChunk } from './http-app.js';
export {
  callerSignal,
  isStopping,
  type ListenAddress,
  ListenError,
  onAnswerEnd,
  type RunningServer,
  requireFreePorts,
  serve,
} from './http-server.js';
export { clientOf, createInternalClient, internalOperationRoutes } from './internal/internal-operations.js';
export {
  createHttpTaxpayerSource,
  gatewayTaxpayerSource,
  type LogoSource,
  type StoredLogo,
  type TaxpayerSource,
} from './internal/taxpayer-source.http.js';
export { CSV_PAGE, sendCsvListing, sendCsvRows, wantsCsv } from './listings/csv.js';
export { columnOf, listingCursor } from './listings/listing-cursor.js';
export { ListingParameters } from './listings/listing-parameters.js';
export { type SeekPlace, sortedWithin } from './listings/sorted-within.js';
export { multipartBoundary, multipartType } from './multipart.js';
export { type CountedRate, openRateCounters, type RateCounter, rateLimitHeaders, withListed } from './rate-counters.js';
export { assignRequestId, requestIdOf, requestNames } from './request-id.js';
export { RequestParameters } from './request-parameters.js';
export { requestProblem } from './request-rules.js';
export { senderNetwork, senderSite, unmapped } from './sender-network.js';
export { serveMetrics } from './serve-metrics.js';
export { createServiceApp, type ServiceAppOptions, type ServiceRoute } from './service-app.js';
export { createShares, type Share } from './shares.js';
export { validate } from './validate.js';
