import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ApiError } from '@ecf/kit';
import express, { type Response } from 'express';
import compressedFiles from 'express-static-gzip';
import { otherMethods } from '../edge/other-methods.js';
import { describeFile, policyOf } from '../edge/static-files.http.js';

const FILES = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@ecf/console/package.json')),
  'dist',
  'app',
);

/** Everything that a page loads comes from this server; printed forms are opened from bytes that the page has. */
const describe = describeFile(policyOf("img-src 'self' data: blob:"));

/** Which pages of the console a listener has. */
export interface ConsoleParts {
  readonly accounts: boolean;
  /** `/console/admin/`. */
  readonly administration: boolean;
}

const ADMINISTRATION = /^\/console\/admin(?:\/|$)/;

/** `/console/`: the files of the web application. Each of its addresses is the same page, which reads the address. */
export function consolePages({ accounts, administration }: ConsoleParts, files = FILES): express.Router {
  const routes = express.Router({ caseSensitive: true, strict: true });
  const home = accounts ? '/console/' : '/console/admin/';
  routes.get('/console', (_req, res) => res.redirect(308, home));
  if (!accounts) routes.get('/console/', (_req, res) => res.redirect(307, home));
  if (!administration) routes.get(ADMINISTRATION, (_req, _res, next) => next('router'));
  const options = { index: false, redirect: false, setHeaders: describe };
  routes.use('/console', compressedFiles(files, { index: false, serveStatic: options }));
  routes
    .route(/^\/console\/[^.]*$/)
    .get((_req, res) => sendPage(res, path.join(files, 'index.html')))
    .all(otherMethods('GET', 'HEAD'));
  return routes;
}

function sendPage(res: Response, file: string): void {
  if (!existsSync(file))
    throw new ApiError(404, 'unknown_route', 'The console has not been built here; run `npm run build`.');
  describe(res, 'index.html');
  res.sendFile(file);
}
