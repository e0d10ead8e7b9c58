/**
 * Each folder of `exchanges/` is one operation. `call.json` is the call, `request.http` the expected request. Each case has
 * an answer of the authority (`<case>.http`) and the expected result (`<case>.json`).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type AuthorityClient, authorityEndpoints, createAuthorityClient } from '../src/index.js';
import { type RawRequest, type RawServer, startRawServer } from './raw-server.js';

const folder = join(dirname(fileURLToPath(import.meta.url)), 'exchanges');

interface Call {
  operation: Exclude<keyof AuthorityClient, 'close'>;
  input: Record<string, unknown>;
}

function text(...path: string[]): string {
  return readFileSync(join(folder, ...path), 'utf8');
}

/** Headers end at the first empty line; lines of the head end with LF in the file and CRLF on the wire. */
function wireBytes(file: string): Buffer {
  const end = file.indexOf('\n\n');
  const head = file.slice(0, end);
  const body = Buffer.from(file.slice(end + 2), /X-Encode: latin-1/.test(head) ? 'latin1' : 'utf8');
  return Buffer.concat([
    Buffer.from(`${head.replaceAll('\n', '\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n`, 'latin1'),
    body,
  ]);
}

/** The request without parts that vary from run to run or belong to HTTP alone. */
function written(request: RawRequest): string {
  const names = ['accept', 'authorization', 'content-length', 'content-type'];
  const headers = names.filter((name) => name in request.headers).map((name) => `${name}: ${request.headers[name]}\n`);
  const body = request.body.toString('utf8').replaceAll('\r\n', '\n');
  return `${request.method} ${request.target} HTTP/1.1\n${headers.join('')}\n${body}`;
}

describe.each(readdirSync(folder))('%s', (operation) => {
  let server: RawServer;
  let client: AuthorityClient;
  let answer: Buffer = Buffer.alloc(0);
  beforeAll(async () => {
    server = await startRawServer((_, socket) => socket.write(answer));
    client = createAuthorityClient({
      endpoints: authorityEndpoints(server.url),
      userAgent: 'test',
      circuit: false,
    });
  });
  afterAll(async () => {
    client.close();
    await server.stop();
  });

  const cases = readdirSync(join(folder, operation))
    .filter((name) => name.endsWith('.http') && name !== 'request.http')
    .map((name) => name.slice(0, -'.http'.length));

  it.each(cases)('%s', async (name) => {
    answer = wireBytes(text(operation, `${name}.http`));
    const call = JSON.parse(text(operation, 'call.json')) as Call;
    const method = client[call.operation] as unknown as (input: unknown) => Promise<Answer<unknown>>;
    const result = await method(call.input);

    const { raw, ...interpreted } = result;
    if (interpreted.outcome === 'unknown') Reflect.deleteProperty(interpreted, 'detail');
    expect(interpreted).toEqual(JSON.parse(text(operation, `${name}.json`)));
    expect(written(server.requests.at(-1)!)).toBe(text(operation, 'request.http'));
    expect(raw?.status).toBe(Number(/^HTTP\/1.1 (\d+)/.exec(answer.toString('latin1'))?.[1]));
  });
});
