import type { HeaderDescription, JsonSchema } from './description.js';

const text = { type: 'string' };

/** Headers of every answer, beside those of HTTP itself. */
export const COMMON_HEADERS: Readonly<Record<string, HeaderDescription>> = {
  'x-request-id': {
    description: 'Id of the request; the error body and the logs contain it.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3',
  },
  'cache-control': {
    description:
      'Clients keep no answers, except the files of the page at /docs. `private, no-cache`: they may keep the answer and send its ETag before each use.',
    required: false,
    schema: text,
    example: 'no-store',
  },
  'content-security-policy': {
    description: 'Forbids browsers to run or frame an answer.',
    required: false,
    schema: text,
    example: "default-src 'none'; frame-ancestors 'none'",
  },
  'referrer-policy': {
    description: 'Forbids browsers to send a referrer.',
    required: false,
    schema: text,
    example: 'no-referrer',
  },
  'x-content-type-options': {
    description: 'Browsers do not guess the content type.',
    required: false,
    schema: text,
    example: 'nosniff',
  },
  ratelimit: {
    description:
      'The rest of the limit: the policy, requests left (r), seconds until the count begins anew (t). Absent without a limit. Policies: key (requests of the API key), account (documents of the account), sender (requests without a key), unknown_keys and admin_tokens (failed sign-ins).',
    required: false,
    schema: text,
    example: '"key";r=199;t=1',
  },
  'ratelimit-policy': {
    description: 'The limits that count the request: requests (q) in a window of seconds (w).',
    required: false,
    schema: text,
    example: '"key";q=200;w=1',
  },
};

/** With an answer that is one object. */
export const ETAG: HeaderDescription = {
  description: 'Identifies these bytes. A request with it in if-none-match gets 304 while they are the same.',
  required: true,
  schema: { type: 'string', pattern: '^"[A-Za-z0-9_-]{43}"$' },
  example: '"n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"',
};

/** With what read models answer. */
export const READ_MODEL_LAG: HeaderDescription = {
  description:
    'Milliseconds that the latest change of an issued document took to arrive in the read models; a list, count or sum may be that far behind.',
  required: true,
  schema: { type: 'string', pattern: '^\\d+$' },
  example: '40',
};

/** With 408, 429 and 503, except for codes that only a person can clear. */
export const RETRY_AFTER: HeaderDescription = {
  description: 'Seconds after which a repeat may succeed.',
  required: true,
  schema: { type: 'string', pattern: '^\\d+$' },
  example: '5',
};

/** A header of the document. */
export function headerObject({ description, required, schema, example }: HeaderDescription): JsonSchema {
  return { description, required, schema, example };
}

/** The headers of an answer: the common ones, its own, and `Retry-After` always, with some of its codes, or not at all. */
export function headersObject(
  own: Readonly<Record<string, HeaderDescription>>,
  retryAfter?: 'always' | 'sometimes',
): JsonSchema {
  const reference = (name: string) => ({ $ref: `#/components/headers/${name}` });
  return {
    ...Object.fromEntries(Object.keys(COMMON_HEADERS).map((name) => [name, reference(name)])),
    ...(retryAfter === 'always' ? { 'retry-after': reference('retry-after') } : {}),
    ...(retryAfter === 'sometimes' ? { 'retry-after': headerObject({ ...RETRY_AFTER, required: false }) } : {}),
    ...Object.fromEntries(Object.entries(own).map(([name, header]) => [name, headerObject(header)])),
  };
}
