import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { until } from '../support/until.js';

const deployment = useDeployment({ PROCESSING_MS: '0' });
// biome-ignore lint/suspicious/noExplicitAny: the documents are walked through freely
let documents: Record<'public' | 'admin', any>;

beforeAll(async () => {
  const read = async (path: string) => (await deployment.demo.call('GET', path)).body;
  documents = { public: await read('/openapi.json'), admin: await read('/admin/openapi.json') };
});

/** The example of a request body. */
function example(method: string, path: string, type = 'application/json') {
  const document = path.startsWith('/admin') ? documents.admin : documents.public;
  return document.paths[path][method.toLowerCase()].requestBody.content[type].example;
}

/** Sends the example of an operation as it stands in the document. */
function send(method: string, path: string, type = 'application/json', headers: Record<string, string> = {}) {
  const value = example(method, path, type);
  if (type === 'multipart/form-data') {
    const body = new FormData();
    for (const [name, part] of Object.entries(value))
      body.set(name, typeof part === 'string' ? part : JSON.stringify(part));
    return deployment.demo.call(method, path, { body, headers });
  }
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  return deployment.demo.call(method, path, { body, headers: { 'content-type': type, ...headers } });
}

/** Reads with the examples of the required parameters. */
function read(path: string): Promise<Answer> {
  const { parameters } = documents.public.paths[path].get;
  const needed = parameters.filter((one: { required: boolean }) => one.required);
  const of = (place: string) => needed.filter((one: { in: string }) => one.in === place);
  const address = of('path').reduce(
    (text: string, { name, example: value }: { name: string; example: unknown }) =>
      text.replace(`{${name}}`, String(value)),
    path,
  );
  const query = new URLSearchParams(
    of('query').map((one: { name: string; example: unknown }) => [one.name, String(one.example)]),
  );
  const headers = Object.fromEntries(
    of('header').map((one: { name: string; example: unknown }) => [one.name, String(one.example)]),
  );
  return deployment.demo.call('GET', `${address}${query.size > 0 ? `?${query}` : ''}`, { headers });
}

interface Body {
  readonly content: Record<string, { readonly example?: unknown }>;
}

/** These need an object that no example can name, for example a trackId that the authority gave, or the session of a browser. */
const NOT_IN_SANDBOX = ['/invoice-status/{track_id}', '/query-consumption-invoice', '/console/session'];

describe('the examples of the OpenAPI document', () => {
  it('of an invoice is accepted as JSON, as a form and in both kinds of batches', async () => {
    const submitted = await send('POST', '/fe_Submit');
    expect(submitted).toMatchObject({ status: 200, body: { status: 'Aceptado', encf: 'E310000000101', warnings: [] } });
    const repeated = await send('POST', '/fe_Submit', 'multipart/form-data');
    expect([repeated.status, repeated.body.trackId]).toEqual([200, submitted.body.trackId]);
    for (const type of ['application/json', 'application/x-ndjson']) {
      const { status, body } = await send('POST', '/batches', type);
      expect(status).toBe(202);
      const finished = await until(
        () => deployment.demo.call('GET', body.status_url),
        (answer) => answer.body.status === 'done',
      );
      expect(finished.body).toMatchObject({ accepted: body.total, refused: 0 });
    }
  });

  it('of a submission is what the gateway answers', async () => {
    const documented = documents.public.paths['/fe_Submit'].post.responses[200].content['application/json'].example;
    const { body } = await send('POST', '/fe_Submit');
    const { xml, trackId, security_code, signature_datetime, qr_url, ...fixed } = documented;
    expect(body).toMatchObject(fixed);
    expect(Object.keys(body).sort()).toEqual(expect.arrayContaining(Object.keys(documented).sort()));
    const shape = (address: string) => address.replace(/(FechaFirma|CodigoSeguridad)=[^&]+/g, '$1');
    expect(shape(body.qr_url)).toBe(shape(qr_url));
    expect([xml, trackId, security_code, signature_datetime].every((value) => typeof value === 'string')).toBe(true);
  });

  it('of an approval and of a cancellation are accepted', async () => {
    await until(
      () => read('/fe/recepcion/api/invoices/{encf}'),
      (answer) => answer.status === 200,
    );
    expect(await send('POST', '/acecf')).toMatchObject({ status: 201, body: { approval_status: 1 } });
    expect(await send('POST', '/anecf')).toMatchObject({ status: 201, body: { authority_status: 'Aceptado' } });
  });

  it('of parameters find what the other examples made', async () => {
    const paths = Object.entries<object>(documents.public.paths)
      .filter(([path, methods]) => 'get' in methods && !path.startsWith('/account/') && !NOT_IN_SANDBOX.includes(path))
      .map(([path]) => path);
    const found: [string, number][] = [];
    for (const path of paths) {
      await until(
        () => read(path),
        (answer) => answer.status !== 404,
      );
      found.push([path, (await read(path)).status]);
    }
    expect(found).toEqual(paths.map((path) => [path, 200]));
  });

  it('of the administration are understood', async () => {
    const account = (await deployment.demo.admin('POST', '/accounts', { name: 'examples' })).body.id as string;
    const unread: [string, unknown][] = [];
    for (const [path, methods] of Object.entries<object>(documents.admin.paths))
      for (const [method, { requestBody }] of Object.entries<{ requestBody?: Body }>(methods as never)) {
        const body = requestBody?.content['application/json']?.example;
        if (body === undefined) continue;
        const address = path.replace('/admin', '').replace('{id}', account).replace('{rnc}', '199999991');
        const ids = address.replace(/\{answerId\}/, '11').replace(/\{\w+\}/, account);
        const answer = await deployment.demo.admin(method.toUpperCase(), ids, body as object);
        // 404 and 409: nothing needs this act in a new account.
        if (![200, 201, 202, 204, 404, 409].includes(answer.status)) unread.push([`${method} ${path}`, answer.body]);
      }
    expect(unread).toEqual([]);
  });
});
