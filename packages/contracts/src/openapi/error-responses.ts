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

const REQUEST_ID = 'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3';

/** `invalid_document` as `InvalidDocument`: the name of the component. */
function componentName(code: ErrorCode): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * The error answers of a document. An answer with one possible code is a component with its name. An answer with several is
 * described at its operation, from the named example of each code.
 */
export function createErrorResponses(components: Components): {
  readonly responses: Record<string, JsonSchema>;
  readonly examples: Record<string, JsonSchema>;
  answer(status: number, codes: readonly ErrorCode[]): JsonSchema;
} {
  const responses: Record<string, JsonSchema> = {};
  const examples: Record<string, JsonSchema> = {};
  const body = components.schemaOf(errorBodySchema, 'output');
  return {
    responses,
    examples,
    answer(status, codes) {
      const sorted = [...codes].sort();
      for (const code of sorted)
        examples[componentName(code)] ??= { summary: ERROR_CODES[code].meaning, value: example(code, status) };
      const [only] = sorted;
      if (only === undefined || sorted.length > 1) return response(sorted, body);
      const name = componentName(only);
      responses[name] ??= response(sorted, body);
      return { $ref: `#/components/responses/${name}` };
    },
  };
}

/** An error: the one body with its possible codes, an example for each. */
function response(codes: readonly ErrorCode[], body: JsonSchema): JsonSchema {
  const waiting = codes.filter((code) => ERROR_CODES[code].retryAfter !== null);
  const retryAfter = waiting.length === codes.length ? 'always' : waiting.length > 0 ? 'sometimes' : undefined;
  const needsToken = codes.includes('invalid_provider_token') || codes.includes('invalid_admin_token');
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].meaning}`).join('\n\n'),
    headers: headersObject(needsToken ? { 'www-authenticate': TOKEN_REQUIRED } : {}, retryAfter),
    content: {
      'application/json': {
        schema: body,
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${componentName(code)}` }]),
        ),
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
  return errorBody({ code, detail }, REQUEST_ID);
}
