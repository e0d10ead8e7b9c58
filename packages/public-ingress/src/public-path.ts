import { OPERATIONS } from '@ecf/contracts';
import { publicAddress } from '@ecf/domain';
import type { RequestHandler } from 'express';

const PUBLIC_PATHS: ReadonlySet<string> = new Set(
  OPERATIONS.filter(({ access }) => access === 'public').map(({ path }) => path),
);

/**
 * The address of a public route as the route table writes it; other addresses stay as they are. The gateway reads the
 * environment.
 */
export function plainPublicPath(url: string): string {
  const queryAt = url.indexOf('?');
  const address = publicAddress(queryAt < 0 ? url : url.slice(0, queryAt));
  if (address === null || !PUBLIC_PATHS.has(address.path)) return url;
  return queryAt < 0 ? address.path : address.path + url.slice(queryAt);
}

/** Gives the routes the plain address. */
export const withPlainPublicPath: RequestHandler = (req, _res, next) => {
  req.url = plainPublicPath(req.url);
  next();
};
