import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiError } from '@ecf/kit';
import express, { type RequestHandler, type Response } from 'express';
import { methodNotAllowed } from './other-methods.js';

/** Where `npm run docs` writes the site: `dist-docs` of this package. */
const BUILT = fileURLToPath(new URL('../../dist-docs', import.meta.url));

/**
 * Pages load files of this server only. Style attributes are allowed, because the pages name the colours of each word of an example in
 * one; style elements and scripts in a page are not. Pictures as data are the icons of the style sheet.
 */
const GUIDE_POLICY = [
  "default-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * `GET /docs/guide/...`: the site of the documentation, from `folder`. If it has not been built, the answer is 404 with the command
 * that builds it. It may be built while the gateway runs.
 */
export function guideRoutes(folder = BUILT): express.Router {
  const files = express.static(folder, { extensions: ['html'], setHeaders: describeFile });
  const missing: RequestHandler = (_req, res) => {
    if (!existsSync(path.join(folder, 'index.html')))
      throw new ApiError(
        404,
        'unknown_route',
        'The site of the documentation has not been built. Run `npm run docs` in the folder of the gateway, then load this page again.',
      );
    res.status(404);
    describeFile(res, '404.html');
    res.sendFile('404.html', { root: folder });
  };
  return express.Router({ caseSensitive: true }).use('/docs/guide', readOnly, files, missing);
}

const readOnly: RequestHandler = (req, _res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  throw methodNotAllowed(req.method, ['GET', 'HEAD']);
};

/** The names of assets have a hash of their content; every other file is compared by its ETag. */
function describeFile(res: Response, file: string): void {
  res.setHeader('content-security-policy', GUIDE_POLICY);
  const hashed = file.split(path.sep).includes('assets');
  res.setHeader('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
}
