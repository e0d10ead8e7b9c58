import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { adminOpenApiDocument, openApiDocument } from '@ecf/contracts';
import { ECF_TYPES, type EcfType, isEcfType } from '@ecf/domain';
import { documentSchema } from '@ecf/ecf-xml/document-schemas';
import { sendDocument } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import express, { type Response } from 'express';
import { otherMethods } from './other-methods.js';

const require = createRequire(import.meta.url);

/** The page loads scripts from this server, and calls this server, only. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const START = `window.SwaggerUIBundle({
  url: document.body.dataset.document,
  dom_id: '#operations',
  deepLinking: true,
  docExpansion: 'list',
  tryItOutEnabled: false,
  validatorUrl: null,
});
`;

const STYLE = `body { margin: 0; }
.guide { max-width: 1460px; margin: 0 auto; padding: 16px 20px 0; box-sizing: border-box; font-family: sans-serif; }
.guide a { color: #2f5fb3; }
`;

const ASSETS: Readonly<Record<string, { type: string; bytes: () => Buffer }>> = {
  'swagger-ui.css': { type: 'text/css; charset=utf-8', bytes: packaged('swagger-ui.css') },
  'swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8', bytes: packaged('swagger-ui-bundle.js') },
  'favicon-32x32.png': { type: 'image/png', bytes: packaged('favicon-32x32.png') },
  'page.css': { type: 'text/css; charset=utf-8', bytes: () => Buffer.from(STYLE) },
  'start.js': { type: 'text/javascript; charset=utf-8', bytes: () => Buffer.from(START) },
};

/** Files of the package swagger-ui-dist, read at their first request. */
function packaged(name: string): () => Buffer {
  return once(() => readFileSync(require.resolve(`swagger-ui-dist/${name}`)));
}

/** The schema of a type, as it is served. */
const schemaBytes = Object.fromEntries(
  ECF_TYPES.map((type) => [type, once(() => Buffer.from(JSON.stringify(documentSchema(type))))]),
) as Record<EcfType, () => Buffer>;

function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * `GET /openapi.json`, `GET /schemas/{type}.json`, `GET /docs`, `GET /docs/{file}`; with an administration also `GET /admin/openapi.json`
 * and its page, the file `admin`. No file comes from another host.
 */
export function docsRoutes(options: { admin: boolean }): express.Router {
  const routes = express.Router({ caseSensitive: true });
  const served = (path: string, document: () => object) => {
    const bytes = once(() => Buffer.from(JSON.stringify(document())));
    routes
      .route(path)
      .get((_req, res) => {
        res.type('application/json').send(bytes());
      })
      .all(otherMethods('GET', 'HEAD'));
  };
  served('/openapi.json', openApiDocument);
  if (options.admin) served('/admin/openapi.json', adminOpenApiDocument);

  routes
    .route('/schemas/:type.json')
    .get((req, res, next) => {
      const { type } = req.params;
      if (!isEcfType(type)) return next('route');
      sendDocument(req, res, schemaBytes[type](), 'application/schema+json');
    })
    .all(otherMethods('GET', 'HEAD'));
  routes.all('/schemas{/*rest}', (req) => {
    const addresses = ECF_TYPES.map((type) => `/schemas/${type}.json`).join(', ');
    throw new ApiError(
      404,
      'unknown_route',
      `There is no schema ${req.path}. The schemas of the ten types are ${addresses}.`,
    );
  });

  routes
    .route('/docs')
    .get((_req, res) => sendPage(res, '/openapi.json'))
    .all(otherMethods('GET', 'HEAD'));
  routes
    .route('/docs/:file')
    .get((req, res) => {
      const { file } = req.params;
      if (file === 'admin' && options.admin) return sendPage(res, '/admin/openapi.json');
      const asset = Object.hasOwn(ASSETS, file) ? ASSETS[file] : undefined;
      if (asset === undefined) throw new ApiError(404, 'unknown_route', `The page at /docs has no ${file}.`);
      res.setHeader('cache-control', 'public, max-age=3600');
      res.setHeader('content-type', asset.type);
      res.end(asset.bytes());
    })
    .all(otherMethods('GET', 'HEAD'));
  return routes;
}

function sendPage(res: Response, document: string): void {
  res.setHeader('content-security-policy', PAGE_POLICY);
  res.setHeader('content-type', 'text/html; charset=utf-8');
  res.end(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>e-CF gateway: operations</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body data-document="${document}">
<div class="guide"><a href="/docs/guide/">Guide</a></div>
<div id="operations"></div>
<noscript>The operations are described in <a href="${document}">${document}</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`);
}
