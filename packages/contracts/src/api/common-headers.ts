import { z } from 'zod';

/** The value of a header, with its description and an example. */
const header = (description: string, example: string, pattern?: RegExp) =>
  (pattern === undefined ? z.string() : z.string().regex(pattern)).meta({ description, examples: [example] });

/** Headers of every response, beside those of HTTP itself. */
export const COMMON_HEADERS = {
  'x-request-id': z
    .string()
    .min(1)
    .max(128)
    .meta({
      description: 'Id of the request; the error body and the logs contain it.',
      examples: ['c3b0a8f2-0d1e-4a5b-9c6d-7e8f90a1b2c3'],
    }),
  'cache-control': header(
    'Clients keep no responses, except the files of the page at /docs. `private, no-cache`: they may keep the response and send its ETag before each use.',
    'no-store',
  ).optional(),
  'content-security-policy': header(
    'Forbids browsers to run or frame a response.',
    "default-src 'none'; frame-ancestors 'none'",
  ).optional(),
  'referrer-policy': header('Forbids browsers to send a referrer.', 'no-referrer').optional(),
  'x-content-type-options': header('Browsers do not guess the content type.', 'nosniff').optional(),
  ratelimit: header(
    'The rest of the limit: the policy, requests left (r), seconds until the count starts again (t). Absent without a limit. Policies: key (requests of the API key), account (documents of the account), sender (requests without a key), unknown_keys and admin_tokens (failed sign-ins).',
    '"key";r=199;t=1',
  ).optional(),
  'ratelimit-policy': header(
    'The limits that count the request: requests (q) in a window of seconds (w).',
    '"key";q=200;w=1',
  ).optional(),
};

/** With a response that is one object. */
export const ETAG = header(
  'Identifies these bytes. A request with it in if-none-match gets 304 while they are the same.',
  '"n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"',
  /^"[A-Za-z0-9_-]{43}"$/,
);

/** With 408, 429 and 503, except for codes that only a person can clear. */
export const RETRY_AFTER = header('Seconds after which a repeat may succeed.', '5', /^\d+$/);
export const TOKEN_REQUIRED = header('Bearer, if a token is required.', 'Bearer').optional();
