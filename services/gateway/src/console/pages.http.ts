import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ApiError } from '@ecf/kit';
import express, { type Response } from 'express';
import { otherMethods } from '../edge/other-methods.js';

const FILES = path.join(
  path.dirname(createRequire(import.meta.url).resolve('@ecf/console/package.json')),
  'dist',
  'app',
);

/** Everything that a page loads comes from this server; printed forms are opened from bytes that the page has. */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `/console/`: the files of the web application. Each of its addresses is the same page, which reads the address. */
export function consolePages(files = FILES): express.Router {
  const routes = express.Router({ caseSensitive: true, strict: true });
  routes.get('/console', (_req, res) => res.redirect(308, '/console/'));
  routes.use(
    '/console',
    express.static(files, {
      index: false,
      redirect: false,
      setHeaders: (res, file) => {
        // The name of an asset contains the hash of its content.
        const lasts = file.startsWith(path.join(files, 'assets'));
        res.setHeader('cache-control', lasts ? 'public, max-age=31536000, immutable' : 'no-cache');
      },
    }),
  );
  routes
    .route(/^\/console\/[^.]*$/)
    .get((_req, res) => sendPage(res, path.join(files, 'index.html')))
    .all(otherMethods('GET', 'HEAD'));
  return routes;
}

function sendPage(res: Response, file: string): void {
  if (!existsSync(file))
    throw new ApiError(404, 'unknown_route', 'The console has not been built here; run `npm run build`.');
  res.setHeader('content-security-policy', POLICY);
  res.setHeader('cache-control', 'no-cache');
  res.sendFile(file);
}
