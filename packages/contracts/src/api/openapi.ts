import { ecfComponents } from '@ecf/ecf-xml/document-schemas';
import { z } from 'zod';
import { type ErrorCode, errorCodeEntry } from '../error-codes.js';
import { COMMON_HEADERS, ETAG, RETRY_AFTER, TOKEN_REQUIRED } from './common-headers.js';
import { errorBody, errorBodySchema } from './error-body.js';
import { errorDetail, exampleOf, REQUEST_ID } from './examples.js';
import { FIELD_DESCRIPTIONS } from './fields.js';
import type { Role, Scope } from './key-rights.js';
import type { Body, Fields, OwnOperation } from './operation.js';
import { ENV, IF_NONE_MATCH, PUBLIC_ENV, REQUEST_ID_HEADER } from './parameters.js';

/** A JSON Schema (draft 2020-12), or another part of the document. */
type Json = { [keyword: string]: unknown };

/** An OpenAPI document as it is served. */
export type OpenApiDocument = Json & { paths: Record<string, Record<string, Json>> };

/** Who may call an operation; it decides the security scheme, the common parameters and the common error codes. */
export type Access = 'key' | 'account' | 'public' | 'open' | 'probe' | 'admin';

export interface DescribedOperation extends OwnOperation {
  readonly access: Access;
  readonly scopes?: readonly Scope[];
  readonly role?: Role | null;
}

/** Error codes of every operation. */
const EVERYWHERE = [
  'bad_request',
  'request_timeout',
  'body_too_large',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
] as const satisfies readonly ErrorCode[];
const KEY = ['invalid_api_key', 'missing_scope', 'validation_error', 'rate_limited', 'overloaded'] as const;
const BY_ACCESS: Record<Access, { errors: readonly ErrorCode[]; headers: Fields; security: Json[] }> = {
  key: {
    errors: [...EVERYWHERE, ...KEY, 'environment_not_allowed', 'environment_not_served', 'storage_full'],
    headers: { env: ENV },
    security: [{ apiKey: [] }],
  },
  account: { errors: [...EVERYWHERE, ...KEY], headers: {}, security: [{ apiKey: [] }] },
  public: {
    errors: [...EVERYWHERE, 'validation_error', 'environment_not_served', 'rate_limited', 'overloaded', 'storage_full'],
    headers: { env: PUBLIC_ENV },
    security: [],
  },
  open: { errors: [...EVERYWHERE, 'rate_limited'], headers: {}, security: [] },
  probe: { errors: EVERYWHERE, headers: {}, security: [] },
  admin: {
    errors: [...EVERYWHERE, 'invalid_admin_token', 'missing_role', 'rate_limited', 'overloaded'],
    headers: {},
    security: [{ adminToken: [] }],
  },
};

/** The parts of the document to which others refer. They are collected while the operations are written. */
interface Components {
  readonly schemas: Record<string, Json>;
  readonly responses: Record<string, Json>;
  readonly examples: Record<string, Json>;
}

/** The OpenAPI document of some operations. */
export function buildDocument(
  info: Json,
  operations: readonly DescribedOperation[],
  securitySchemes: Json,
): OpenApiDocument {
  const components: Components = { schemas: {}, responses: {}, examples: {} };
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: operationObject(operation, components),
    };
  }
  const headers = Object.entries({ ...COMMON_HEADERS, 'retry-after': RETRY_AFTER });
  if (components.schemas.Ecf !== undefined) Object.assign(components.schemas, ecfComponents());
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes,
      headers: Object.fromEntries(headers.map(([name, schema]) => [name, valueObject(name, schema, components)])),
      ...components,
      schemas: Object.fromEntries(Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

function operationObject(operation: DescribedOperation, components: Components): Json {
  const { id, tag, summary, access, params, query, hasEtag, body } = operation;
  const common = BY_ACCESS[access];
  const headers = {
    ...operation.headers,
    ...(hasEtag ? { 'if-none-match': IF_NONE_MATCH } : {}),
    ...common.headers,
    'x-request-id': REQUEST_ID_HEADER,
  };
  const parameters = Object.entries({ path: params, query, header: headers }).flatMap(([place, fields = {}]) =>
    Object.entries(fields).map(([name, schema]) => ({ name, in: place, ...valueObject(name, schema, components) })),
  );
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    security: common.security,
    parameters,
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentObject(body, components) } }),
    responses: responsesObject(operation, components),
  };
}

/** The description, with the scopes that the key needs, or the role of the administrator. */
function descriptionOf({ description, scopes, role }: DescribedOperation): string {
  const needed = scopes?.map((scope) => `\`${scope}\``).join(' or ');
  return [description, needed && `Scope of the key: ${needed}.`, role && `Role: \`${role}\`.`]
    .filter(Boolean)
    .join('\n\n');
}

function responsesObject(operation: DescribedOperation, components: Components): Json {
  const { access, status = 200, response, responseHeaders, otherResponses = {}, hasEtag, errors = [] } = operation;
  const headers = { ...responseHeaders, ...(hasEtag ? { etag: ETAG } : {}) };
  const responses: Record<string, Json> = { [status]: responseObject(response, headers, components) };
  if (hasEtag)
    responses[304] = {
      ...responseObject(undefined, headers, components),
      description: 'The caller has this response.',
    };
  for (const [other, schema] of Object.entries(otherResponses))
    responses[other] = responseObject(schema, other === '503' ? { 'retry-after': RETRY_AFTER } : {}, components);
  const codes = [...new Set([...errors, ...BY_ACCESS[access].errors])].sort();
  for (const code of codes) {
    const error = errorCodeEntry(code).status;
    responses[error] ??= errorResponse(
      codes.filter((other) => errorCodeEntry(other).status === error),
      components,
    );
  }
  return responses;
}

function responseObject(body: Body | undefined, headers: Fields, components: Components): Json {
  const [first] = body instanceof z.ZodType ? [body] : Object.values(body ?? {});
  return {
    description: first?.description ?? (body === undefined ? 'Done; the response has no body.' : 'Success.'),
    headers: headersObject(headers, components),
    ...(body === undefined ? {} : { content: contentObject(body, components) }),
  };
}

/**
 * The response for errors of one status. With one possible code it is a component of that name; with several it is described at
 * the operation.
 */
function errorResponse(codes: readonly ErrorCode[], components: Components): Json {
  const [only] = codes;
  const name = codes.length === 1 ? componentName(only as ErrorCode) : null;
  if (name !== null && components.responses[name] !== undefined) return { $ref: `#/components/responses/${name}` };
  const waiting = codes.filter((code) => errorCodeEntry(code).retryAfter !== undefined);
  const needsToken = codes.includes('invalid_provider_token') || codes.includes('invalid_admin_token');
  const headers = {
    ...(waiting.length === 0
      ? {}
      : { 'retry-after': waiting.length < codes.length ? RETRY_AFTER.optional() : RETRY_AFTER }),
    ...(needsToken ? { 'www-authenticate': TOKEN_REQUIRED } : {}),
  };
  for (const code of codes) {
    const { meaning, remedy, status } = errorCodeEntry(code);
    const detail = errorDetail(code, status) ?? `${meaning} ${remedy}`;
    components.examples[componentName(code)] ??= { summary: meaning, value: errorBody({ code, detail }, REQUEST_ID) };
  }
  const response = {
    description: codes.map((code) => `\`${code}\`: ${errorCodeEntry(code).meaning}`).join('\n\n'),
    headers: headersObject(headers, components),
    content: {
      'application/json': {
        schema: jsonSchema(errorBodySchema, components),
        examples: Object.fromEntries(
          codes.map((code) => [code, { $ref: `#/components/examples/${componentName(code)}` }]),
        ),
      },
    },
  };
  if (name === null) return response;
  components.responses[name] = response;
  return { $ref: `#/components/responses/${name}` };
}

/** `invalid_document` as `InvalidDocument`. */
function componentName(code: ErrorCode): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The headers of a response: those of every response, and its own. */
function headersObject(own: Fields, components: Components): Json {
  const common = Object.keys(COMMON_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]);
  const others = Object.entries(own).map(([name, schema]) => [
    name,
    schema === RETRY_AFTER ? { $ref: `#/components/headers/${name}` } : valueObject(name, schema, components),
  ]);
  return Object.fromEntries([...common, ...others]);
}

/** A parameter or a header, beside its name. */
function valueObject(name: string, schema: z.ZodType, components: Components): Json {
  const { description, examples: _, ...rest } = jsonSchema(schema, components);
  return { description, required: !schema.isOptional(), schema: rest, example: exampleOf(schema, name) };
}

function contentObject(body: Body, components: Components): Json {
  const media = body instanceof z.ZodType ? { 'application/json': body } : body;
  return Object.fromEntries(
    Object.entries(media).map(([type, schema]) => {
      const { examples: _, encoding, ...rest } = jsonSchema(schema, components);
      return [type, { schema: rest, example: exampleOf(schema), ...(encoding ? { encoding } : {}) }];
    }),
  );
}

/** A schema as the document has it; schemas with an id become components. A response may get further properties. */
function jsonSchema(schema: z.ZodType, components: Components): Json {
  const { $schema, ...written } = z.toJSONSchema(schema, { io: 'input' });
  const text = JSON.stringify(written).replaceAll('#/$defs/', '#/components/schemas/');
  const { $defs, ...json } = JSON.parse(text, (key, value) => (key === 'properties' ? described(value) : value));
  Object.assign(components.schemas, $defs);
  return json;
}

/** The properties of an object, each with its own description or that of its name. */
function described(properties: Record<string, Json>): Json {
  const entries = Object.entries(properties).map(([name, property]) => {
    const [value] = (property.anyOf ?? []) as Json[];
    const description = property.description ?? value?.description ?? FIELD_DESCRIPTIONS[name];
    return [name, description === undefined ? property : { ...property, description }];
  });
  return Object.fromEntries(entries);
}
