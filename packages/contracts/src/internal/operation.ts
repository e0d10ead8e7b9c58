import { z } from 'zod';
import type { ServiceName } from '../services.js';

/** A query of one service to another: `POST path` with a JSON body, under a service's signed identity. */
export interface InternalOperation<Q extends z.ZodType = z.ZodType, A extends z.ZodType = z.ZodType> {
  readonly path: string;
  /** The services that may call it. Every other service gets 401 `invalid_identity`. */
  readonly callers: readonly [ServiceName, ...ServiceName[]];
  readonly request: Q;
  readonly answer: A;
}

/** A row of a set of operations. */
export const internalOperation = <Q extends z.ZodType, A extends z.ZodType>(
  path: string,
  callers: InternalOperation['callers'],
  request: Q,
  answer: A,
): InternalOperation<Q, A> => ({ path, callers, request, answer });

/** Most documents in a query. */
export const MAX_NUMBERS_PER_QUERY = 1_000;

export const internalPageSchema = z.object({ after: z.int().nonnegative(), limit: z.int().min(1).max(1_000) });

/**
 * The services that may read taxpayers at the gateway: `GET /internal/accounts/{id}/taxpayers`,
 * `GET /internal/taxpayers/{rnc}` and `GET /internal/taxpayers/{rnc}/logo`.
 */
export const TAXPAYER_SOURCE_CALLERS: readonly ServiceName[] = ['emission', 'reception', 'approvals', 'query'];

/** The functions of a set of operations, in the service that answers and in the one that calls. */
export type InternalHandlers<T extends Readonly<Record<string, InternalOperation>>> = {
  readonly [N in keyof T]: (request: z.output<T[N]['request']>) => Promise<z.output<T[N]['answer']>>;
};
