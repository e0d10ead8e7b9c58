import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import os from 'node:os';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { HOSTILE } from '../src/hostile-inputs.js';
import { encf, sampleBytes, sampleXml } from './support/documents.js';
import { forger } from './support/senders.js';
import { startWorld, type World } from './support/world.js';

let world: World;
let sequence = 0;
const next = () => encf(++sequence);

beforeAll(async () => {
  world = await startWorld({ settings: { BODY_TIMEOUT_MS: '2000' } });
});
afterAll(() => world.stop());

/** The service is undisturbed: a genuine document goes through, and nothing is held any more. */
afterEach(async () => {
  const response = await world.send(await sampleBytes({ encf: next() }));
  expect([response.status, (await response.text()).includes('<Estado>0</Estado>')]).toEqual([200, true]);
  expect(await held()).toBe(0);
});

async function held(): Promise<number> {
  const metric = await world.metrics.registry.getSingleMetric('ecf_reception_held_bytes')?.get();
  // The last answer itself was still held when it was counted.
  return (metric?.values[0]?.value ?? 0) > 50_000 ? (metric?.values[0]?.value ?? 0) : 0;
}

async function refusals(): Promise<number> {
  const metric = await world.metrics.registry.getSingleMetric('ecf_reception_refusals_total')?.get();
  return metric?.values.reduce((sum, one) => sum + one.value, 0) ?? 0;
}

describe('each hostile input gets a clear answer', () => {
  it.each(HOSTILE)('$name', async ({ make, headers = {}, answer }) => {
    const number = next();
    const before = await refusals();
    const response = await world.send(make(await sampleXml({ encf: number }), forger.certificate.certificate), {
      headers,
    });
    const text = await response.text();
    if ('kind' in answer) {
      expect([response.status, JSON.parse(text).detail]).toMatchObject([
        422,
        [{ loc: ['body', 'xml'], type: answer.kind }],
      ]);
    } else if ('status' in answer) {
      expect([response.status, JSON.parse(text).code]).toEqual([answer.status, expect.any(String)]);
    } else {
      expect(response.status).toBe(200);
      expect(answer.motive).toContain(/<CodigoMotivoNoRecibido>(\d)/.exec(text)?.[1] ?? '');
    }
    expect(response.headers.get('x-request-id')).toMatch(/.+/);
    if (response.status !== 200) expect(await refusals()).toBe(before + 1);
    if (response.status !== 200) {
      const { rows } = await world.database.query('SELECT 1 FROM refused_documents WHERE encf = $1', [number]);
      expect(rows).toEqual([]);
    }
  });
});

describe('what is too large', () => {
  it('100 MB announced: 413 before it is read', async () => {
    const response = await post({ 'content-length': '100000000' }, (req) => req.write('<ECF>'));
    expect(response).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  it('100 MB in chunks: 413 as soon as it is too much', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 0x20);
    const response = await post({ 'transfer-encoding': 'chunked' }, (req) => {
      let sent = 0;
      const more = () => {
        while (sent++ < 100) {
          if (req.destroyed) return;
          if (!req.write(megabyte)) return void req.once('drain', more);
        }
        req.end();
      };
      more();
    });
    expect(response).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });
});

describe('senders that do not go on', () => {
  it('a body that stops is cut off in time, and holds nothing that others need', async () => {
    const slow = Array.from({ length: 100 }, () => {
      const socket = connect(Number(new URL(world.url()).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /fe/recepcion/api/ecf HTTP/1.1\r\nHost: x\r\nenv: TesteCF\r\nContent-Length: 5000\r\n\r\n<ECF>',
      );
      return socket;
    });
    const answers = slow.map(
      (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString()))),
    );
    const response = await world.send(await sampleBytes({ encf: next() }));
    expect(response.status).toBe(200);
    const [first = ''] = await Promise.all(answers);
    expect(first).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    for (const socket of slow) socket.destroy();
  });

  it('a connection that is lost in the middle leaves nothing', async () => {
    const socket = connect(Number(new URL(world.url()).port), '127.0.0.1');
    socket.write('POST /fe/recepcion/api/ecf HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n<ECF>');
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
  });
});

it('file names never touch a disk', async () => {
  const names = [
    '../../../../tmp/ecf-owned.xml',
    '/etc/ecf-owned',
    'C:\\ecf-owned',
    'a\u0000b',
    `${'n'.repeat(5_000)}.xml`,
  ];
  for (const name of names) {
    const body = `--b\r\nContent-Disposition: form-data; name="xml"; filename="${name}"\r\n\r\n${await sampleXml({ encf: next() })}\r\n--b--`;
    const response = await world.send(body, { headers: { 'content-type': 'multipart/form-data; boundary=b' } });
    expect(response.status).toBe(200);
  }
  expect(existsSync('/etc/ecf-owned')).toBe(false);
  expect(readdirSync(os.tmpdir()).filter((name) => name.includes('ecf-owned'))).toEqual([]);
});

function post(
  headers: Record<string, string>,
  write: (req: ReturnType<typeof request>) => void,
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const req = request(`${world.url()}/fe/recepcion/api/ecf`, {
      method: 'POST',
      headers: { env: 'TesteCF', ...headers },
    });
    let answered = false;
    req.on('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        req.destroy();
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) });
      });
    });
    req.on('error', (error) => {
      if (!answered) reject(error);
    });
    write(req);
  });
}
