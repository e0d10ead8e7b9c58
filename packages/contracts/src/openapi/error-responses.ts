import { ERROR_CODES, type ErrorCode } from '../error-codes.js';
import { errorBody, errorBodySchema, type ValidationItem } from '../http/error-body.js';
import type { Components } from './components.js';
import type { HeaderDescription, JsonSchema } from './description.js';
import { headersObject } from './headers.js';

const TOKEN_REQUIRED: HeaderDescription = {
  description: 'Bearer, if a token is required.',
  required: false,
  schema: { type: 'string' },
  example: 'Bearer',
};

/** The error answers of a document; operations with the same codes share one. */
export function createErrorResponses(components: Components): {
  readonly responses: Record<string, JsonSchema>;
  reference(status: number, codes: readonly ErrorCode[]): JsonSchema;
} {
  const names = new Map<string, string>();
  const responses: Record<string, JsonSchema> = {};
  return {
    responses,
    reference(status, codes) {
      const sorted = [...codes].sort();
      const key = sorted.join(' ');
      let name = names.get(key);
      if (name === undefined) {
        const alike = [...names.values()].filter((taken) => taken.startsWith(`${status}`)).length;
        name = sorted.length === 1 ? key : `${status}_${alike + 1}`;
        names.set(key, name);
        responses[name] = response(status, sorted, components);
      }
      return { $ref: `#/components/responses/${name}` };
    },
  };
}

/** An error: the one body with its possible codes, an example for each. */
function response(status: number, codes: readonly ErrorCode[], components: Components): JsonSchema {
  const body = components.schemaOf(errorBodySchema, 'output');
  const waiting = codes.filter((code) => ERROR_CODES[code].retryAfter !== null);
  const retryAfter = waiting.length === codes.length ? 'always' : waiting.length > 0 ? 'sometimes' : undefined;
  const needsToken = codes.includes('invalid_provider_token') || codes.includes('invalid_admin_token');
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join('\n\n'),
    headers: headersObject(needsToken ? { 'www-authenticate': TOKEN_REQUIRED } : {}, retryAfter),
    content: {
      'application/json': {
        schema: { allOf: [body, { properties: { code: { enum: codes } } }] },
        examples: Object.fromEntries(codes.map((code) => [code, { value: example(code, status) }])),
      },
    },
  };
}

const INVALID: ValidationItem = { loc: ['header', 'rnc-issuing'], msg: 'an RNC has 9 or 11 digits', type: 'rnc' };
/** The place that a 422 of a code names, where it is always the same one. */
const ITEMS: Partial<Record<ErrorCode, ValidationItem>> = {
  idempotency_key_required: {
    loc: ['header', 'idempotency-key'],
    msg: 'the document has no eNCF, so this header is required',
    type: 'missing',
  },
  unknown_event: {
    loc: ['query', 'after'],
    msg: 'after is not the id of an event, nor a next of an earlier answer',
    type: 'unknown_event',
  },
  environment_not_served: {
    loc: ['header', 'env'],
    msg: 'this deployment uses a simulator of the authority and does not serve eCF; use TesteCF or CerteCF',
    type: 'environment',
  },
  service_not_in_environment: {
    loc: ['header', 'env'],
    msg: 'the authority does not have this service in CerteCF; use TesteCF or eCF',
    type: 'service_not_in_environment',
  },
};

function example(code: ErrorCode, status: number): JsonSchema {
  const { meaning, remedy } = ERROR_CODES[code];
  const detail = status === 422 ? [ITEMS[code] ?? INVALID] : `${meaning} ${remedy}`;
  return errorBody({ code, detail }, 'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3');
}
