import { z } from 'zod';
import { environmentSchema } from '../environment.js';
import { errorBody, errorBodySchema } from '../http/error-body.js';
import type { OwnOperationId } from '../http/own-operations.js';
import { json, type OperationDescription } from './description.js';
import { EXAMPLES } from './examples.js';
import { PARAMETERS as P } from './parameters.js';

const TAG = 'Service';

/** Answer of `GET /`. */
export const serviceSchema = z.object({
  name: z.string(),
  version: z.string(),
  interface_version: z.string(),
  environments: z.array(environmentSchema),
  openapi: z.string(),
  docs: z.string(),
  errors: z.string(),
  health: z.object({ live: z.string(), ready: z.string() }),
});

/** A row of `GET /errors`. */
export const errorEntrySchema = z.object({
  code: z.string(),
  status: z.number().int(),
  retry_after: z.number().int().nullable(),
  meaning: z.string(),
  remedy: z.string(),
});

const liveSchema = z.object({ status: z.literal('ok') });
const readySchema = z.object({ status: z.enum(['ok', 'not_ready']), checks: z.record(z.string(), z.string()) });
/** Every error has the common body; this one also the state of each dependency. */
const notReadySchema = errorBodySchema.extend(readySchema.shape);
const text = (example: string) => ({ schema: { type: 'string' }, example });

export const OWN = {
  service: {
    tag: TAG,
    summary: 'Returns name, version and the first addresses',
    answers: { 200: { description: 'The gateway.', content: json(serviceSchema, EXAMPLES.service) } },
  },
  errors: {
    tag: TAG,
    summary: 'Lists every error code with its status, meaning and remedy',
    answers: { 200: { description: 'The codes.', content: json(z.array(errorEntrySchema), [EXAMPLES.errorEntry]) } },
  },
  live: {
    tag: TAG,
    summary: 'Says whether the process runs',
    answers: { 200: { description: 'The process runs.', content: json(liveSchema, { status: 'ok' }) } },
  },
  ready: {
    tag: TAG,
    summary: 'Says whether the process and its dependencies answer',
    answers: {
      200: {
        description: 'All of them answer.',
        content: json(readySchema, { status: 'ok', checks: { database: 'ok' } }),
      },
      503: {
        description: 'Some do not answer; see `checks`.',
        content: json(notReadySchema, {
          status: 'not_ready',
          checks: { database: 'ECONNREFUSED' },
          ...errorBody(
            { code: 'service_unavailable', detail: 'Not ready: database (ECONNREFUSED). Repeat after Retry-After.' },
            'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3',
          ),
        }),
        headers: {
          'retry-after': {
            description: 'Seconds to wait.',
            required: true,
            schema: { type: 'string' },
            example: '1',
          },
        },
      },
    },
  },
  openApi: {
    tag: TAG,
    summary: 'This document',
    answers: {
      200: {
        description: 'OpenAPI 3.1.',
        content: json({ type: 'object', additionalProperties: true }, { openapi: '3.1.0' }),
      },
    },
  },
  docs: {
    tag: TAG,
    summary: 'This document as a page',
    answers: { 200: { description: 'The page.', content: { 'text/html': text('<!doctype html>...') } } },
  },
  docsFile: {
    tag: TAG,
    summary: 'Returns a file of the page',
    parameters: [P.file],
    answers: {
      200: {
        description: 'The file.',
        content: {
          'text/css': text('.swagger-ui { ... }'),
          'text/javascript': text('...'),
          'image/png': { schema: { type: 'string', format: 'binary' }, example: '...' },
          'text/html': text('<!doctype html>...'),
        },
      },
    },
    errors: ['unknown_route'],
  },
} as const satisfies Record<OwnOperationId, OperationDescription>;
