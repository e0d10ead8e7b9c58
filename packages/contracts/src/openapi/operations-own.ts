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
  name: z.string().meta({ description: 'The name of the product' }),
  version: z.string().meta({ description: 'The version of the product' }),
  interface_version: z.string().meta({ description: 'The version of this interface' }),
  environments: z.array(environmentSchema).meta({ description: 'The environments that the deployment serves' }),
  openapi: z.string().meta({ description: 'Path of the OpenAPI document' }),
  docs: z.string().meta({ description: 'Path of the OpenAPI document as a page' }),
  errors: z.string().meta({ description: 'Path of the list of error codes' }),
  health: z
    .object({
      live: z.string().meta({ description: 'Path that says whether the process runs' }),
      ready: z.string().meta({ description: 'Path that says whether its dependencies answer' }),
    })
    .meta({ description: 'Paths for probes' }),
});

/** A row of `GET /errors`. */
export const errorEntrySchema = z.object({
  code: z.string().meta({ description: 'The stable name of the error' }),
  status: z.number().int().meta({ description: 'The HTTP status' }),
  retry_after: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'Seconds in Retry-After; null if a repeat does not help by itself' }),
  meaning: z.string().meta({ description: 'What happened' }),
  remedy: z.string().meta({ description: 'What to do' }),
});

const liveSchema = z.object({ status: z.literal('ok').meta({ description: 'The process runs' }) });
const readySchema = z.object({
  status: z.enum(['ok', 'not_ready']).meta({ description: 'ok if all dependencies answer' }),
  checks: z.record(z.string(), z.string()).meta({ description: 'Each dependency: ok, or why it is not' }),
});
/** Every error has the common body; this one also the state of each dependency. */
const notReadySchema = errorBodySchema.extend(readySchema.shape);
const text = (example: string) => ({ schema: { type: 'string' }, example });

export const OWN = {
  service: {
    tag: TAG,
    summary: 'Returns name, version and the first addresses',
    description: 'For a first call without a key.',
    answers: { 200: { description: 'The gateway.', content: json(serviceSchema, EXAMPLES.service) } },
  },
  errors: {
    tag: TAG,
    summary: 'Lists every error code with its status, meaning and remedy',
    description: 'Programs should decide by `code`; people find here what to do.',
    answers: { 200: { description: 'The codes.', content: json(z.array(errorEntrySchema), [EXAMPLES.errorEntry]) } },
  },
  live: {
    tag: TAG,
    summary: 'Says whether the process runs',
    description: 'For the probe that restarts a process.',
    answers: { 200: { description: 'The process runs.', content: json(liveSchema, { status: 'ok' }) } },
  },
  ready: {
    tag: TAG,
    summary: 'Says whether the process and its dependencies answer',
    description: 'For the probe of a load balancer. A failed dependency is named in `checks`.',
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
    description: 'OpenAPI 3.1 of all operations for accounts and other taxpayers.',
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
    description: 'A page that shows the operations and can call them.',
    answers: { 200: { description: 'The page.', content: { 'text/html': text('<!doctype html>...') } } },
  },
  docsFile: {
    tag: TAG,
    summary: 'Returns a file of the page',
    description: 'Scripts and styles of the page. It loads nothing from other hosts.',
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
