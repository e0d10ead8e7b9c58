import type { RequestHandler } from 'express';

const ENVIRONMENT_PREFIX = /^\/(?:testecf|certecf|ecf)(?=\/fe\/)/i;
/** The official text prints the route with an accent too: percent-encoded, or as raw UTF-8 or Latin-1 bytes. */
const ACCENTED = /^(\/fe\/recepci)(?:%c3%b3|\u00c3\u00b3|%f3|\u00f3)(n(?:\/|\?|$))/i;

/**
 * The address of a public route as the route table writes it: without environment prefix (the gateway has read it),
 * without accent, without doubled slashes before it. Other addresses stay as they are. Routes are compared without case.
 */
export function plainPublicPath(url: string): string {
  const single = url.startsWith('//') ? url.replace(/^\/+/, '/') : url;
  const bare = single.replace(ENVIRONMENT_PREFIX, '');
  return bare.replace(ACCENTED, '$1o$2');
}

/** Has the routes see the plain address. */
export const withPlainPublicPath: RequestHandler = (req, _res, next) => {
  req.url = plainPublicPath(req.url);
  next();
};
