import { type ErrorCode, errorCodeEntry } from '../error-codes.js';
import type { Scope } from '../http/key-rights.js';
import { OPERATIONS, type OperationId } from '../http/operations.js';
import { ADMIN_OPERATIONS, type HttpMethod, OWN_OPERATIONS, type Role } from '../http/own-operations.js';
import { type Components, createComponents } from './components.js';
import type {
  AnswerDescription,
  Content,
  JsonSchema,
  OperationDescription,
  ParameterDescription,
} from './description.js';
import { createErrorResponses } from './error-responses.js';
import { COMMON_HEADERS, ETAG, headerObject, headersObject, RETRY_AFTER } from './headers.js';
import { ACCOUNT } from './operations-account.js';
import { ADMIN } from './operations-admin.js';
import { APPROVALS } from './operations-approvals.js';
import { BATCHES } from './operations-batches.js';
import { EMISSION } from './operations-emission.js';
import { OWN } from './operations-own.js';
import { QUERY } from './operations-query.js';
import { RECEPTION } from './operations-reception.js';
import { PARAMETERS } from './parameters.js';

/** An OpenAPI document as it is served. */
export type OpenApiDocument = JsonSchema & { paths: Record<string, Record<string, JsonSchema>> };

const DESCRIPTIONS: Record<OperationId, OperationDescription> = {
  ...EMISSION,
  ...BATCHES,
  ...QUERY,
  ...RECEPTION,
  ...APPROVALS,
  ...ACCOUNT,
};

/** The names of the query parameters of an operation, in their spelling. */
export function queryParametersOf(id: OperationId): readonly string[] {
  return (DESCRIPTIONS[id].parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name);
}

type Access = 'key' | 'account' | 'public' | 'open' | 'probe' | 'admin';

/** Error codes of every operation, by access. */
const EVERYWHERE = [
  'bad_request',
  'request_timeout',
  'body_too_large',
  'headers_too_large',
  'internal_error',
  'service_unavailable',
] as const satisfies readonly ErrorCode[];
/** No rate limit applies to these. */
const PROBES: readonly string[] = ['live', 'ready'];
const BY_ACCESS: Record<Access, readonly ErrorCode[]> = {
  key: [
    ...EVERYWHERE,
    'invalid_api_key',
    'environment_not_allowed',
    'missing_scope',
    'validation_error',
    'environment_not_served',
    'rate_limited',
    'overloaded',
    'storage_full',
  ],
  account: [...EVERYWHERE, 'invalid_api_key', 'missing_scope', 'validation_error', 'rate_limited', 'overloaded'],
  public: [...EVERYWHERE, 'validation_error', 'environment_not_served', 'rate_limited', 'overloaded', 'storage_full'],
  open: [...EVERYWHERE, 'rate_limited'],
  probe: EVERYWHERE,
  admin: [...EVERYWHERE, 'invalid_admin_token', 'missing_role', 'rate_limited', 'overloaded'],
};

interface Described {
  readonly id: string;
  readonly method: HttpMethod;
  readonly path: string;
  readonly access: Access;
  readonly scopes?: readonly Scope[];
  readonly role?: Role | null;
  readonly description: OperationDescription;
}

/** The document of the public interface. */
export function openApiDocument(): OpenApiDocument {
  return build(
    {
      title: 'e-CF gateway',
      version: '3.0',
      summary: 'Electronic fiscal receipts of the Dominican Republic over HTTP and JSON',
      description:
        'A slash at the end of a path is ignored. HEAD works on every path that has GET. Another method is 405 ' +
        '`method_not_allowed` with the header `allow`, another path is 404 `unknown_route`, and a header `expect` ' +
        'other than 100-continue is 417 `expectation_failed`. Times are Dominican (-04:00); amounts are text with ' +
        'two decimals, except total_amount of a received invoice, which the specification makes a number. Operations with a key match the names of query parameters in any case and refuse unknown ones with ' +
        '422; public ones ignore them. Every error has the body `ErrorBody`; `/errors` lists the codes. ' +
        'The administration has its own document, `/admin/openapi.json`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    [
      ...OPERATIONS.map((operation) => ({
        ...operation,
        access: 'withoutEnvironment' in operation ? ('account' as const) : operation.access,
        description: DESCRIPTIONS[operation.id],
      })),
      ...OWN_OPERATIONS.map((operation) => ({
        ...operation,
        access: PROBES.includes(operation.id) ? ('probe' as const) : ('open' as const),
        description: OWN[operation.id],
      })),
    ],
    {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: 'Key of the account. A sandbox key is valid for TesteCF and CerteCF, a production key for eCF.',
      },
    },
  );
}

/** The document of the administration. */
export function adminOpenApiDocument(): OpenApiDocument {
  return build(
    {
      title: 'e-CF gateway: administration',
      version: '3.0',
      description:
        'Accounts, taxpayers, certificates, number ranges, API keys and administrators. Available if ADMIN_TOKEN is set. A role includes those before it: viewer, operator, owner.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    ADMIN_OPERATIONS.map((operation) => ({
      ...operation,
      access: operation.id === 'adminOpenApi' ? ('open' as const) : ('admin' as const),
      description: ADMIN[operation.id],
    })),
    {
      adminToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'The token of an administrator, or ADMIN_TOKEN of the deployment (role owner).',
      },
    },
  );
}

function build(info: JsonSchema, operations: readonly Described[], securitySchemes: JsonSchema): OpenApiDocument {
  const components = createComponents();
  const errors = createErrorResponses(components);
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    paths[operation.path] ??= {};
    (paths[operation.path] as Record<string, JsonSchema>)[operation.method.toLowerCase()] = operationObject(
      operation,
      components,
      errors,
    );
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/' }],
    tags: [...new Set(operations.map(({ description }) => description.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes,
      headers: Object.fromEntries(
        Object.entries({ ...COMMON_HEADERS, 'retry-after': RETRY_AFTER }).map(([name, header]) => [
          name,
          headerObject(header),
        ]),
      ),
      examples: errors.examples,
      responses: errors.responses,
      schemas: used(components.schemas, [paths, errors.responses]),
    },
  };
}

/** The schemas that the paths need, in the order of their names. */
function used(schemas: Record<string, JsonSchema>, paths: unknown): Record<string, JsonSchema> {
  const wanted = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g))
      if (name !== undefined && !wanted.has(name)) {
        wanted.add(name);
        visit(schemas[name]);
      }
  };
  visit(paths);
  return Object.fromEntries([...wanted].sort().map((name) => [name, schemas[name] as JsonSchema]));
}

type Errors = ReturnType<typeof createErrorResponses>;

function operationObject(operation: Described, components: Components, errors: Errors): JsonSchema {
  const { description, access } = operation;
  const codes = [...new Set<ErrorCode>([...(description.errors ?? []), ...BY_ACCESS[access]])];
  const parameters = [
    ...(description.parameters ?? []),
    ...(description.hasEtag === true ? [PARAMETERS.ifNoneMatch] : []),
    ...(access === 'key' ? [PARAMETERS.env] : []),
    ...(access === 'public' ? [PARAMETERS.publicEnv] : []),
    PARAMETERS.requestId,
  ];
  return {
    operationId: operation.id,
    tags: [description.tag],
    summary: description.summary,
    ...describedText(operation),
    security:
      access === 'key' || access === 'account' ? [{ apiKey: [] }] : access === 'admin' ? [{ adminToken: [] }] : [],
    parameters: parameters.map((parameter) => parameterObject(parameter, components)),
    ...(description.body === undefined
      ? {}
      : {
          requestBody: {
            required: description.body.required,
            ...(description.body.description === undefined ? {} : { description: description.body.description }),
            content: contentObject(description.body.content, components, 'input'),
          },
        }),
    responses: responsesObject(answersOf(description), codes, components, errors),
  };
}

/** The answers of an operation, with what an ETag adds. */
function answersOf({ answers, hasEtag = false }: OperationDescription): OperationDescription['answers'] {
  const ok = answers[200];
  if (!hasEtag || ok === undefined) return answers;
  return {
    ...answers,
    200: { ...ok, headers: { ...ok.headers, etag: ETAG } },
    304: { description: 'The caller has this answer already.', headers: { ...ok.headers, etag: ETAG } },
  };
}

/** The description of an operation, with the scopes that its key needs, or the role of the administrator. */
function describedText({ description, scopes, role }: Described): JsonSchema {
  const needed = [
    ...(scopes === undefined ? [] : [`Scope of the key: ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`]),
    ...(role === undefined || role === null ? [] : [`Role: \`${role}\`.`]),
  ];
  const text = [...(description.description === undefined ? [] : [description.description]), ...needed].join('\n\n');
  return text === '' ? {} : { description: text };
}

function parameterObject(parameter: ParameterDescription, components: Components): JsonSchema {
  const { name, required, description, example } = parameter;
  const schema = components.schemaOf(parameter.schema, 'input');
  return { name, in: parameter.in, required, description, schema, example };
}

function contentObject(content: Content, components: Components, io: 'input' | 'output'): JsonSchema {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema, example, encoding }]) => [
      type,
      { schema: components.schemaOf(schema, io), example, ...(encoding === undefined ? {} : { encoding }) },
    ]),
  );
}

function responsesObject(
  answers: OperationDescription['answers'],
  codes: readonly ErrorCode[],
  components: Components,
  errors: Errors,
): JsonSchema {
  const statuses = [...new Set(codes.map((code) => errorCodeEntry(code).status))];
  const rows: [string, JsonSchema][] = Object.entries(answers).map(([status, answer]) => [
    status,
    answerObject(answer, components),
  ]);
  for (const status of statuses) {
    const group = codes.filter((code) => errorCodeEntry(code).status === status);
    if (answers[status] === undefined) rows.push([String(status), errors.answer(status, group)]);
  }
  return Object.fromEntries(rows.sort(([a], [b]) => Number(a) - Number(b)));
}

function answerObject(answer: AnswerDescription, components: Components): JsonSchema {
  return {
    description: answer.description,
    headers: headersObject(answer.headers ?? {}),
    ...(answer.content === undefined ? {} : { content: contentObject(answer.content, components, 'output') }),
  };
}
