import { ApiError } from '@ecf/kit';
import type { RequestHandler } from 'express';

/** Refuses every other method of a route; it is the last handler of the route. */
export function otherMethods(...allow: string[]): RequestHandler {
  return (req) => {
    throw methodNotAllowed(req.method, allow);
  };
}

/** 405 with the methods of the address. */
export function methodNotAllowed(method: string, allow: readonly string[]): ApiError {
  return new ApiError(
    405,
    'method_not_allowed',
    `${method} is not a method of this address; use ${allow.join(' or ')}.`,
    { headers: { allow: [...new Set(allow)].join(', ') } },
  );
}
