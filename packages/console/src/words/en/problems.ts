import type { problems as spanish } from '../es/problems.js';

/**
 * What is wrong and what to do, by the code of the gateway's error. The gateway's own sentence is English, so only those are here
 * that speak to a program.
 */
export const problems: Partial<typeof spanish> = {
  invalid_api_key:
    'The key is not valid: it does not exist, has expired or was revoked. Sign in with another, or request one from the owner of the account.',
  invalid_admin_token: 'The token is not valid: it does not exist, has expired or was deleted. Sign in with another.',
  session_ended: 'The session has ended. Sign in again and repeat what you were doing.',
  environment_not_allowed:
    'The key that you signed in with is not valid for this environment. Choose another, or sign in with another key.',
  missing_scope:
    'The key that you signed in with lacks the scope for this. Use another, or request one from the owner of the account.',
  beyond_own_rights:
    'The key that you signed in with may not make this change. Use a key with more rights, or ask an administrator of the service.',
  unknown_route: 'This server does not offer this. It may have an older version; load the page again.',
  already_answered: 'This document had a decision already. No other one was sent.',
  event_expired: 'This event is older than the 90 days that are kept.',
  idempotency_conflict:
    'The first version, with other content, was issued. This one was not sent. For another sale, load the page again.',
  idempotency_key_required: 'The document has no e-NCF. Load the page again and send it once more.',
  rate_limited: 'There are too many requests. Wait a few seconds and try again.',
  overloaded: 'The server has too much work. Wait a few seconds and try again.',
  service_unavailable: 'A part of the server is not ready. Wait a few seconds and try again.',
  internal_error:
    'The server failed. Try again; no document is issued twice. If it happens again, tell the operator of the server.',
  unknown_answer:
    'The answer is not from the server but from a proxy or a network before it. Try again; if it happens again, tell the operator.',
};
