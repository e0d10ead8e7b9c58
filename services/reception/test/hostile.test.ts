import { existsSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import os from 'node:os';
import { createBodiesInFlight } from '@ecf/http';
import { HOSTILE } from '@ecf/test-support/hostile-inputs';
import { beginPost } from '@ecf/test-support/raw-posts';
import { silentLogger } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, sampleBytes, sampleXml } from './support/documents.js';
import { BUYER, forger, provider } from './support/senders.js';
import { startWorld, type World } from './support/world.js';

let world: World;
const MEBIBYTE = 1024 * 1024;
/** Room for sixteen of the largest bodies, as with the least setting. */
const bodies = createBodiesInFlight({ MAX_BODY_BYTES_IN_FLIGHT: 1, MAX_BODY_BYTES: 10 * MEBIBYTE });
/** The log of the service. */
const lines: object[] = [];
let sequence = 0;
const next = () => encf(++sequence);

beforeAll(async () => {
  const { length } = await sampleBytes();
  world = await startWorld({
    settings: {
      BODY_TIMEOUT_MS: '10000',
      MAX_COMPETING_BYTES: String((3.5 * length) | 0),
      MAX_STORED_BYTES_PER_SENDER: '16000000',
    },
    overrides: {
      bodies,
      logger: Object.assign(Object.create(silentLogger), { info: (line: object) => lines.push(line) }),
    },
  });
});
afterAll(() => world.stop());

/** Expects that the service receives a genuine document and has no request in flight. */
afterEach(async () => {
  const response = await world.send(await sampleBytes({ encf: next() }));
  expect([response.status, (await response.text()).includes('<Estado>0</Estado>')]).toEqual([200, true]);
  await until(inFlight, (requests) => requests === 0);
});

async function inFlight(): Promise<number> {
  return Number(/^ecf_reception_in_flight_requests (\S+)$/m.exec(await world.metrics.render())?.[1]);
}

async function refusals(): Promise<number> {
  const metric = await world.metrics.registry.getSingleMetric('ecf_reception_refusals_total')?.get();
  return metric?.values.reduce((sum, one) => sum + one.value, 0) ?? 0;
}

it('large padded documents are received up to the daily bytes of their sender; later ones get 429 and are not recorded', async () => {
  const sender = '198.51.100.66';
  const number = next();
  const large = async (encf: string) =>
    (await sampleXml({ encf })).replace('</Encabezado>', `</Encabezado>${' '.repeat(6_000_000)}`);
  for (const encf of [next(), next()])
    expect(await (await world.send(await large(encf), { sender })).text()).toContain('<Estado>0<');
  const before = await refusals();
  const over = await world.send(await large(number), { sender });
  expect([over.status, (await over.json()).code]).toEqual([429, 'daily_bytes_used']);
  const wait = Number(over.headers.get('retry-after'));
  // The first document came in the first hour after noon.
  expect(new Date(world.now().getTime() + wait * 1_000).toISOString()).toMatch(/^2026-06-24T16:0\d:/);
  expect(await refusals()).toBe(before + 1);
  expect(lines.at(-1)).toMatchObject({ reason: 'daily_bytes_used', sender });
  for (const table of ['received_documents', 'refused_documents'])
    expect((await world.database.query(`SELECT 1 FROM ${table} WHERE encf = $1`, [number])).rows).toEqual([]);
  // Small documents of this sender, and all of others, are received; a repeat of a received one is answered.
  for (const from of [sender, '198.51.100.67'])
    expect(await (await world.send(await sampleBytes({ encf: next() }), { sender: from })).text()).toContain(
      '<Estado>0<',
    );
  expect(await (await world.send(await large(number), { sender: '198.51.100.67' })).text()).toContain('<Estado>0<');
});

describe('a clear answer', () => {
  it.each(HOSTILE)('is given to the hostile input: $name', async ({ make, headers = {}, answer }) => {
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
    const id = response.headers.get('x-request-id');
    const motive = /<CodigoMotivoNoRecibido>(\d)/.exec(text)?.[1];
    if (motive !== undefined) {
      const { rows } = await world.database.query('SELECT motive FROM refused_documents WHERE request_id = $1', [id]);
      expect(rows).toEqual([{ motive: Number(motive) }]);
    }
    if (response.status !== 200) {
      expect(await refusals()).toBe(before + 1);
      const line = { request_id: id, reason: expect.stringMatching(/./), sender: '203.0.113.7' };
      expect(lines.at(-1)).toMatchObject(line);
      const { rows } = await world.database.query('SELECT 1 FROM refused_documents WHERE encf = $1', [number]);
      expect(rows).toEqual([]);
    }
  });
});

describe('a body that is too large', () => {
  it('gets 413 before it is read if it declares 100 MB', async () => {
    const response = await post({ 'content-length': '100000000' }, (req) => req.write('<ECF>'));
    expect(response).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
  });

  it('gets 413 once it exceeds the limit if it comes in chunks', async () => {
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

describe('chunks of a few bytes', () => {
  /** Sends a body in chunks of `size` bytes, at most nine; resolves with the whole answer. */
  function trickle(body: Buffer, size: number): Promise<string> {
    const text = body.toString('latin1');
    let chunks = '';
    for (let at = 0; at < text.length; at += size) {
      const piece = text.slice(at, at + size);
      chunks += `${piece.length}\r\n${piece}\r\n`;
    }
    const head = ['POST /fe/recepcion/api/ecf HTTP/1.1', 'Host: x', 'env: TesteCF', 'Connection: close'];
    const socket = connect(Number(new URL(world.url()).port), '127.0.0.1');
    return new Promise((resolve) => {
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      // A body still being written when the answer comes is lost.
      socket.on('error', () => undefined).once('close', () => resolve(answer));
      const start = Buffer.from(`${head.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n`);
      socket.write(Buffer.concat([start, Buffer.from(`${chunks}0\r\n\r\n`, 'latin1')]));
    });
  }

  it('are accepted for an ordinary document', async () => {
    expect(await trickle(await sampleBytes({ encf: next() }), 4)).toContain('<Estado>0<');
  });

  it('are refused once their number exceeds the bound', async () => {
    const before = await refusals();
    expect(await trickle(Buffer.alloc(100_000, 0x20), 1)).toMatch(/^HTTP\/1\.1 400 .*"code":"bad_request"/s);
    expect(await refusals()).toBe(before + 1);
  });
});

describe('stored bytes of strangers', () => {
  async function unkept(reason: string): Promise<number> {
    const metric = await world.metrics.registry.getSingleMetric('ecf_reception_unkept_documents_total')?.get();
    return metric?.values.find(({ labels }) => labels.reason === reason)?.value ?? 0;
  }

  it('are bounded for one number, never at the cost of the genuine document', async () => {
    const number = next();
    // The provider is a known signer; a stranger's document comes first under the number.
    const earlier = next();
    await world.send(await sampleBytes({ encf: earlier }));
    await world.database.query(
      `INSERT INTO known_signers (env, rnc, key, holder, trusted, first_used_at)
       SELECT env, issuer_rnc, certificate_key, certificate_holder, false, received_at - interval '1 second'
         FROM received_documents WHERE encf = $1`,
      [earlier],
    );
    const stranger = { encf: number, certificate: forger.certificate };
    expect(await (await world.send(await sampleBytes(stranger))).text()).toContain('<Estado>0<');
    const before = await unkept('number');
    const first = await sampleBytes({ ...stranger, total: '1.00' });
    for (const bytes of [first, await sampleBytes({ ...stranger, total: '2.00' }), first])
      expect(await (await world.send(bytes, { sender: '198.51.100.1' })).text()).toContain(
        '<CodigoMotivoNoRecibido>3<',
      );
    expect(await unkept('number')).toBe(before + 1);
    const senders = Array.from({ length: 6 }, (_, i) => `2001:db8:1${i}::1`);
    for (const [i, sender] of senders.entries())
      await world.send(await sampleBytes({ ...stranger, total: `${10 + i}.00` }), { sender });
    expect(await unkept('number')).toBe(before + 5);

    const genuine = await sampleBytes({ encf: number, total: '77.00' });
    expect(await (await world.send(genuine, { sender: '198.51.100.9' })).text()).toContain(
      '<CodigoMotivoNoRecibido>3<',
    );
    expect(await unkept('number')).toBe(before + 5);
    const shown = await (await world.get(`/fe/recepcion/api/invoices/${number}`, { 'buyer-rnc': BUYER })).json();
    expect([shown.conflicts.length, shown.conflicts_unkept.length, shown.conflicts_total]).toEqual([4, 5, 9]);
    const { rows } = await world.database.query<{ xml_path: string; sha256: string }>(
      'SELECT xml_path, sha256 FROM refused_documents WHERE encf = $1 AND certificate_fingerprint = $2',
      [number, provider.certificate.fingerprint],
    );
    expect(shown.conflicts.map((one: { sha256: string }) => one.sha256)).toContain(rows[0]?.sha256);
    expect((await world.archive.get(rows[0]?.xml_path as string)).equals(genuine)).toBe(true);
  });

  it('are bounded for one sender in 24 hours, refusals included; a /48 is one sender, and others are not affected', async () => {
    const bad = async () =>
      (await sampleXml({ encf: next() }))
        .replace(/<MontoTotal>[^<]*/, '<MontoTotal>1.11')
        .replace('<DetallesItems>', `${' '.repeat(900_000)}<DetallesItems>`);
    const most = Math.floor(16_000_000 / ((await bad()).length + 5_000));
    for (let i = 0; i < most; i++) {
      const answer = await world.send(await bad(), { sender: `2001:db8:9:${i + 1}::1` });
      expect(await answer.text()).toContain('<CodigoMotivoNoRecibido>2<');
    }
    const over = await world.send(await bad(), { sender: '2001:db8:9:1::1' });
    expect([over.status, (await over.json()).code]).toEqual([429, 'daily_bytes_used']);
    expect((await world.send(await bad(), { sender: '2001:db8:a::1' })).status).toBe(200);
    const later = (hours: number) => world.setTime(new Date(world.now().getTime() + hours * 3_600_000));
    later(22);
    expect((await world.send(await bad(), { sender: '2001:db8:9:1::1' })).status).toBe(429);
    later(3);
    expect((await world.send(await bad(), { sender: '2001:db8:9:1::1' })).status).toBe(200);
  });
});

describe('half-open bodies', () => {
  /** Begins a body of 10 MB, of which two have come. */
  const begin = (sender: string) =>
    beginPost(
      `${world.url()}/fe/recepcion/api/ecf`,
      { env: 'TesteCF', 'x-sender': sender },
      `${(10_000_000).toString(16)}\r\n${'x'.repeat(2_000_000)}`,
    );

  it.each([
    ['of one sender take no more than its share of the memory', () => '198.51.100.200', 20, 429, 'rate_limited'],
    [
      'of sixty senders take no more than the half for strangers',
      (n: number) => `198.51.101.${n}`,
      80,
      503,
      'overloaded',
    ],
  ])('%s', async (_what, senderOf, mebibytes, status, code) => {
    const open = Array.from({ length: 60 }, (_, n) => begin(senderOf(n)));
    const refused = await Promise.race(open.map((one) => one.answer()));
    expect(refused).toMatchObject({ status, code });
    expect(refused.head).toMatch(/retry-after: 5/i);
    expect(bodies.bytes()).toBeLessThanOrEqual(mebibytes * MEBIBYTE);
    if (status === 429) expect((await world.send(await sampleBytes({ encf: next() }))).status).toBe(200);
    for (const { socket } of open) socket.destroy();
    await until(
      async () => bodies.bytes(),
      (bytes) => bytes === 0,
    );
  });
});

describe('senders that stop', () => {
  it('are cut off in time, and delay no other sender', async () => {
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

  it('leave no trace if the connection is lost within the body', async () => {
    const number = next();
    const [bytes, before] = [await sampleBytes({ encf: number }), await refusals()];
    const socket = connect(Number(new URL(world.url()).port), '127.0.0.1');
    socket.write(`POST /fe/recepcion/api/ecf HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes.subarray(0, -1));
    await until(inFlight, (requests) => requests === 1);
    socket.destroy();
    await until(inFlight, (requests) => requests === 0);
    await until(refusals, (count) => count === before + 1);
    const { rows } = await world.database.query(
      'SELECT encf FROM received_documents WHERE encf = $1 UNION ALL SELECT encf FROM refused_documents WHERE encf = $1',
      [number],
    );
    expect(rows).toEqual([]);
  });
});

it('file names never reach the disk', async () => {
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
