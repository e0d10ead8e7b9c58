import { z } from 'zod';
import { ecfTypeSchema, environmentSchema, named } from '../values.js';
import { errorBody, errorBodySchema } from './error-body.js';
import { REQUEST_ID } from './examples.js';
import { operations } from './operation.js';

export const serviceSchema = named('Service', {
  name: z.string().meta({ description: 'The name of the product', examples: ['ecf-gateway'] }),
  version: z.string().meta({ description: 'The version of the product', examples: ['1.0.0'] }),
  interface_version: z.string().meta({ description: 'The version of this interface', examples: ['3.0'] }),
  environments: z.array(environmentSchema).describe('The environments that the deployment serves'),
  authority: z
    .enum(['official', 'simulated'])
    .describe('Who answers as the authority: its official hosts, or the simulator of AUTHORITY_URL'),
  openapi: z.string().meta({ description: 'Path of the OpenAPI document', examples: ['/openapi.json'] }),
  docs: z.string().meta({ description: 'Path of the OpenAPI document as a page', examples: ['/docs'] }),
  errors: z.string().meta({ description: 'Path of the list of error codes', examples: ['/errors'] }),
  health: z
    .object({
      live: z.string().meta({ description: 'Path that says whether the process runs', examples: ['/health/live'] }),
      ready: z
        .string()
        .meta({ description: 'Path that says whether its dependencies answer', examples: ['/health/ready'] }),
    })
    .describe('Paths for probes'),
});

/** A row of `GET /errors`. */
const errorEntrySchema = named('ErrorEntry', {
  code: z.string().meta({ description: 'The stable name of the error', examples: ['rate_limited'] }),
  status: z.int().meta({ description: 'The HTTP status', examples: [429] }),
  retry_after: z.int().nullable().describe('Seconds in Retry-After; null if a repeat does not help by itself'),
  meaning: z.string().meta({
    description: 'What happened',
    examples: ['More requests a second than the limit allows.'],
  }),
  remedy: z.string().meta({ description: 'What to do', examples: ['Wait for Retry-After and repeat.'] }),
});

export type ErrorEntry = z.infer<typeof errorEntrySchema>;

const readySchema = z.object({
  status: z.enum(['ok', 'not_ready']).describe('ok if all dependencies answer'),
  checks: z
    .record(z.string(), z.string())
    .meta({ description: 'Each dependency: ok, or why it is not', examples: [{ database: 'ok' }] }),
});

/** A part of the page. */
const text = (example: string) => z.string().meta({ examples: [example] });
export const documentSchema = z.looseObject({}).meta({ description: 'OpenAPI 3.1', examples: [{ openapi: '3.1.0' }] });

/** The operations of the gateway without a key. */
export const OWN_OPERATIONS = operations('Service', {
  service: {
    route: 'GET /',
    summary: 'Returns name, version and the first addresses',
    description: 'For a first call without a key.',
    response: serviceSchema,
  },
  errors: {
    route: 'GET /errors',
    summary: 'Lists every error code with its status, meaning and remedy',
    description: 'Programs should decide by `code`; people find here what to do.',
    response: z.array(errorEntrySchema),
  },
  live: {
    route: 'GET /health/live',
    summary: 'Says whether the process runs',
    description: 'For the probe that restarts a process.',
    response: z.object({ status: z.literal('ok').describe('The process runs') }),
  },
  ready: {
    route: 'GET /health/ready',
    summary: 'Says whether the process and its dependencies answer',
    description: 'For the probe of a load balancer. A failed dependency is named in `checks`.',
    response: readySchema,
    otherResponses: {
      503: errorBodySchema.extend(readySchema.shape).meta({
        description: 'Some dependencies do not answer; see `checks`.',
        examples: [
          {
            status: 'not_ready',
            checks: { database: 'ECONNREFUSED' },
            ...errorBody(
              { code: 'service_unavailable', detail: 'Not ready: database (ECONNREFUSED). Repeat after Retry-After.' },
              REQUEST_ID,
            ),
          },
        ],
      }),
    },
  },
  openApi: {
    route: 'GET /openapi.json',
    summary: 'This document',
    description: 'OpenAPI 3.1 of all operations for accounts and other taxpayers.',
    response: documentSchema,
  },
  schema: {
    route: 'GET /schemas/{type}.json',
    summary: 'Returns the JSON Schema of a type of e-CF',
    description:
      'Draft 2020-12, generated from the catalogue: names, nesting, limits and codes of an invoice as it is submitted. Editors complete and check invoices with it. The business rules are not in it.',
    params: { type: ecfTypeSchema.describe('The type of e-CF.') },
    response: {
      'application/schema+json': z.looseObject({}).meta({
        description: 'The schema.',
        examples: [
          { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: '/schemas/31.json', title: 'e-CF 31' },
        ],
      }),
    },
    hasEtag: true,
    errors: ['unknown_route'],
  },
  docs: {
    route: 'GET /docs',
    summary: 'This document as a page',
    description: 'A page that shows the operations and can call them.',
    response: { 'text/html': text('<!doctype html>...') },
  },
  docsFile: {
    route: 'GET /docs/{file}',
    summary: 'Returns a file of the page',
    description: 'Scripts and styles of the page. It loads nothing from other hosts.',
    params: {
      file: z
        .string()
        .regex(/^[\w.-]+$/)
        .meta({ description: 'A file of the page.', examples: ['swagger-ui.css'] }),
    },
    response: {
      'text/css': text('.swagger-ui { ... }'),
      'text/javascript': text('...'),
      'image/png': z.file().meta({ examples: ['...'] }),
      'text/html': text('<!doctype html>...'),
    },
    errors: ['unknown_route'],
  },
});
