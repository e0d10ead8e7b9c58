import type { HeaderDescription, JsonSchema } from './description.js';

const text = { type: 'string' };

/** What every answer carries beside what HTTP itself needs. */
export const COMMON_HEADERS: Readonly<Record<string, HeaderDescription>> = {
  'x-request-id': {
    description: 'Id of the request; it stands in the error body and in the logs.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: 'c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3',
  },
  'cache-control': {
    description: 'Answers are not kept, but for the files of the page at /docs.',
    required: false,
    schema: text,
    example: 'no-store',
  },
  'content-security-policy': {
    description: 'Nothing in an answer is run or framed.',
    required: false,
    schema: text,
    example: "default-src 'none'; frame-ancestors 'none'",
  },
  'referrer-policy': { description: 'No address is told.', required: false, schema: text, example: 'no-referrer' },
  'x-content-type-options': {
    description: 'The content type is the one that is stated.',
    required: false,
    schema: text,
    example: 'nosniff',
  },
};

/** Beside 408, 429 and 503, but for those that only a person can end. */
export const RETRY_AFTER: HeaderDescription = {
  description: 'Seconds after which a repeat may do better.',
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
