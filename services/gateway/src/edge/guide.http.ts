import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiError } from '@ecf/kit';
import express, { type RequestHandler } from 'express';
import { methodNotAllowed } from './other-methods.js';
import { describeFile, policyOf } from './static-files.http.js';

/** Where `npm run docs` writes the site: `dist-docs` of this package. */
const BUILT = fileURLToPath(new URL('../../dist-docs', import.meta.url));

/**
 * Pages load files of this server only. Style attributes are allowed, because the pages name the colours of each word of an example in
 * one; style elements and scripts in a page are not. Pictures as data are the icons of the style sheet.
 */
const describe = describeFile(policyOf("style-src-attr 'unsafe-inline'", "img-src 'self' data:"));

/**
 * `GET /docs/guide/...`: the site of the documentation, from `folder`. If it has not been built, the answer is 404 with the command
 * that builds it. It may be built while the gateway runs.
 */
export function guideRoutes(folder = BUILT): express.Router {
  const files = express.static(folder, { extensions: ['html'], setHeaders: describe });
  const missing: RequestHandler = (_req, res) => {
    if (!existsSync(path.join(folder, 'index.html')))
      throw new ApiError(
        404,
        'unknown_route',
        'The site of the documentation has not been built. Run `npm run docs` in the folder of the gateway, then load this page again.',
      );
    res.status(404);
    describe(res, '404.html');
    res.sendFile('404.html', { root: folder });
  };
  return express.Router({ caseSensitive: true }).use('/docs/guide', readOnly, files, missing);
}

const readOnly: RequestHandler = (req, _res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  throw methodNotAllowed(req.method, ['GET', 'HEAD']);
};
