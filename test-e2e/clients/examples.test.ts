import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import fs from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { useDeployment } from '../support/deployment/deployment.js';
import { until } from '../support/until.js';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const EXAMPLES = path.join(ROOT, 'examples');
const ISSUER = '199999991';
const source = (ending: string): string => path.join(EXAMPLES, `first-invoice.${ending}`);

/** Answers come before the verdict, so that the programs wait for it. */
const deployment = useDeployment({ STATUS_WAIT_MS: '0', FIRST_QUERY_MS: '200' });
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-examples-'));
const servers: Server[] = [];
const programs: ChildProcess[] = [];
let apiKey: string;

beforeAll(async () => {
  // What `npm install @ecf-gateway/client` does in the folder of a user.
  fs.mkdirSync(path.join(folder, 'node_modules/@ecf-gateway'), { recursive: true });
  fs.symlinkSync(path.join(ROOT, 'packages/client'), path.join(folder, 'node_modules/@ecf-gateway/client'));
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  fs.copyFileSync(source('ts'), path.join(folder, 'first-invoice.ts'));
  const { demo } = deployment;
  const [account] = (await demo.admin('GET', '/accounts')).body;
  const base = `/accounts/${account.id}`;
  const key = { name: 'examples', environments: ['TesteCF'], scopes: ['submit', 'read', 'manage'] };
  apiKey = (await demo.admin('POST', `${base}/api-keys`, key)).body.key;
  const ranges = [
    { env: 'TesteCF', ecf_type: '31', from: 'E310000005001', to: 'E310000006000', expires: '2028-12-31' },
  ];
  expect((await demo.admin('PUT', `${base}/taxpayers/${ISSUER}/ranges`, ranges)).status).toBe(200);
});
afterEach(() => {
  for (const program of programs.splice(0)) program.kill('SIGKILL');
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

/** A web server on a free port. Resolves with its address. */
async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function freePort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Passed {
  readonly place: string;
  readonly key: string | undefined;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** A proxy before the gateway. `answer` may send something else than the gateway's answer; it then returns true. */
function proxy(answer: (passed: Passed, response: ServerResponse) => boolean): Promise<string> {
  return serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { host: _, connection: __, 'content-length': ___, expect: ____, ...headers } = request.headers;
    const passed = await fetch(`${deployment.running.demo.base_url}${request.url}`, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length === 0 ? {} : { body }),
    });
    const content = Buffer.from(await passed.arrayBuffer());
    const place = `${request.method} ${request.url}`;
    const key = request.headers['idempotency-key'] as string | undefined;
    if (answer({ place, key, status: passed.status, headers: passed.headers, body: content }, response)) return;
    const retryAfter = passed.headers.get('retry-after');
    response.writeHead(passed.status, {
      'content-type': passed.headers.get('content-type') ?? 'text/plain',
      ...(retryAfter === null ? {} : { 'retry-after': retryAfter }),
    });
    response.end(content);
  });
}

interface Running {
  readonly child: ChildProcess;
  output(): string;
  readonly ended: Promise<number | null>;
}

function start([command = '', ...args]: readonly string[], env: Record<string, string>, cwd = folder): Running {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  programs.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  return { child, output: () => output, ended: new Promise((resolve) => child.once('close', resolve)) };
}

/** Calls a receiver. Resolves with its status; 503 if it does not answer. */
type Receiver = (headers: Record<string, string>, body: Buffer) => Promise<number>;

const overHttp =
  (port: number): Receiver =>
  (headers, body) =>
    fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: new Uint8Array(body) }).then(
      ({ status }) => status,
      () => 503,
    );

/** Runs a program for each request, as a web server does with CGI. `note` gets what it writes to its log. */
const overCgi =
  (command: readonly string[], env: Record<string, string>, note: (text: string) => void): Receiver =>
  async (headers, body) => {
    const variables = Object.entries(headers).map(([name, value]) => [
      `HTTP_${name.toUpperCase().replaceAll('-', '_')}`,
      value,
    ]);
    const request = { REQUEST_METHOD: 'POST', CONTENT_LENGTH: String(body.length) };
    const program = start(command, { ...env, ...Object.fromEntries(variables), ...request });
    program.child.stdin?.end(body);
    await program.ended;
    note(program.output());
    return Number(/^Status: (\d+)/m.exec(program.output())?.[1] ?? 500);
  };

const available = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const compiledTypeScript = path.join(folder, 'first-invoice.js');
const compiledCSharp = path.join(folder, 'first-invoice.exe');

interface Program {
  readonly name: string;
  readonly needs: string;
  readonly present: boolean;
  /** The command that compiles it. */
  readonly compile?: readonly string[];
  readonly run: readonly string[];
  /** The command of its receiver on a port; null if it receives as a CGI program. */
  readonly receive: ((port: number) => readonly string[]) | null;
}

const PROGRAMS: readonly Program[] = [
  {
    name: 'first-invoice.sh',
    needs: 'curl, jq and openssl',
    present: available('curl', '--version') && available('jq', '--version') && available('openssl', 'version'),
    run: ['sh', source('sh')],
    receive: null,
  },
  {
    name: 'first-invoice.py',
    needs: 'python3',
    present: available('python3', '--version'),
    run: ['python3', source('py')],
    receive: () => ['python3', source('py'), 'receive'],
  },
  {
    name: 'first-invoice.php',
    needs: 'php with its curl extension',
    present: available('php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);'),
    run: ['php', source('php')],
    receive: (port) => ['php', '-S', `127.0.0.1:${port}`, source('php')],
  },
  {
    name: 'first-invoice.cs',
    needs: 'mcs and mono',
    present: available('mcs', '--version') && available('mono', '--version'),
    compile: [
      ...['mcs', source('cs'), `-out:${compiledCSharp}`],
      ...['-warnaserror', '-r:System.Net.Http.dll', '-r:System.Web.Extensions.dll'],
    ],
    run: ['mono', compiledCSharp],
    receive: () => ['mono', compiledCSharp, 'receive'],
  },
  {
    name: 'first-invoice.ts',
    needs: 'Node and the client package',
    present: true,
    compile: [
      ...[
        path.join(ROOT, 'node_modules/.bin/tsc'),
        path.join(folder, 'first-invoice.ts'),
        '--strict',
        '--skipLibCheck',
      ],
      ...['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--typeRoots'],
      path.join(ROOT, 'node_modules/@types'),
    ],
    run: [process.execPath, compiledTypeScript],
    receive: () => [process.execPath, compiledTypeScript, 'receive'],
  },
];

describe('the example from the first invoice to the webhook', () => {
  for (const program of PROGRAMS) {
    (program.present ? it : it.skip)(
      `submits once despite a lost answer, prints, and accepts only signed events: ${program.name} (needs ${program.needs})`,
      () => tellsTheStory(program),
      180_000,
    );
  }
});

describe('the example in the shell', () => {
  (PROGRAMS[0]?.present ? it : it.skip)(
    'creates one webhook, and ends with an error, if the answer to the creation is lost (needs curl, jq and openssl)',
    async () => {
      let creations = 0;
      const gateway = await serve((request, response) => {
        if (request.url === '/account/webhooks') {
          creations += 1;
          response.destroy();
        } else response.end('{"encf": "E310000000001", "status": "Aceptado", "messages": []}');
      });
      const env = { ECF_URL: gateway, ECF_API_KEY: apiKey };
      const story = start(['sh', source('sh'), 'sale', 'https://erp.example/events'], env);
      expect([await story.ended, story.output()]).toEqual([1, expect.stringContaining('status 000')]);
      expect(creations).toBe(1);
    },
  );
});

async function tellsTheStory({ name, compile, run, receive }: Program): Promise<void> {
  if (compile !== undefined) {
    const { status, stdout, stderr } = spawnSync(compile[0] ?? '', compile.slice(1), {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stdout + stderr]).toEqual([0, expect.stringMatching(/^$|Compilation succeeded/)]);
  }
  const submissions: Passed[] = [];
  // The first answer is lost, and the second one asks the program to wait.
  const gateway = await proxy((passed, response) => {
    if (passed.place !== 'POST /fe_Submit') return false;
    submissions.push(passed);
    if (submissions.length === 1) response.destroy();
    if (submissions.length === 2) response.writeHead(503, { 'retry-after': '1' }).end('busy');
    return submissions.length < 3;
  });
  // The webhook calls the receiver through this server, because its address is needed before the receiver can start.
  let receiver: Receiver = async () => 503;
  const webhookUrl = await serve(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    response.writeHead(await receiver(webhookHeaders(request.headers), body)).end();
  });

  const sale = `sale of ${name}`;
  const env = { ECF_URL: gateway, ECF_API_KEY: apiKey };
  const story = start([...run, sale, webhookUrl], env);
  expect([await story.ended, story.output()]).toEqual([0, expect.stringMatching(/^E31\d{10} Aceptado$/m)]);
  const [encf = ''] = /E31\d{10}/.exec(story.output()) ?? [];
  expect(submissions.map(({ key, status }) => [key, status])).toEqual(Array(3).fill([sale, 200]));
  expect(new Set(submissions.map(({ body }) => JSON.parse(body.toString()).encf))).toEqual(new Set([encf]));
  expect(fs.readFileSync(path.join(folder, `${encf}.pdf`), 'latin1').slice(0, 5)).toBe('%PDF-');

  const [, id = '', secret = ''] = /^webhook (\S+), .*: (whsec_\S+)$/m.exec(story.output()) ?? [];
  let log = '';
  let received = () => log;
  if (receive === null) {
    receiver = overCgi(run, { WEBHOOK_SECRET: secret }, (text) => {
      log += text;
    });
  } else {
    const port = await freePort();
    const running = start(receive(port), { WEBHOOK_SECRET: secret, PORT: String(port) });
    received = running.output;
    receiver = overHttp(port);
    await until(
      () => receiver({}, Buffer.from('{}')),
      (status) => status !== 503,
    );
  }

  const tested = await deployment.demo.call('POST', `/account/webhooks/${id}/test`, {
    headers: { 'x-api-key': apiKey },
  });
  expect([tested.status, tested.body.status]).toEqual([200, 204]);
  await until(
    async () => received(),
    (text) => text.includes('webhook.test'),
  );
  const second = start([...run, `second ${sale}`], env);
  await second.ended;
  const [other = 'no number'] = /E31\d{10}/.exec(second.output()) ?? [];
  await until(
    async () => received(),
    (text) => text.includes(`invoice.accepted ${other}`),
  );

  const forged = Buffer.from('{"type": "forged", "subject": {"encf": null}}');
  const now = Math.floor(Date.now() / 1_000);
  expect(await receiver(signed(secret, now, forged), forged)).toBe(204);
  await until(
    async () => received(),
    (text) => text.includes('forged'),
  );
  const changed = Buffer.from('{"type": "changed", "subject": {"encf": null}}');
  expect(await receiver(signed(secret, now, forged), changed)).toBe(400);
  expect(await receiver(signed(secret, now - 301, changed), changed)).toBe(400);
  expect(await receiver({}, changed)).toBe(400);
  expect(received()).not.toContain('changed');
  await deployment.demo.call('DELETE', `/account/webhooks/${id}`, { headers: { 'x-api-key': apiKey } });
}

function webhookHeaders(headers: IncomingMessage['headers']): Record<string, string> {
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}

/** The headers of a webhook. After a rotation there are two signatures; here the first one is of another secret. */
function signed(secret: string, timestamp: number, body: Buffer): Record<string, string> {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = (by: Buffer) =>
    `v1,${createHmac('sha256', by).update(`1-0.${timestamp}.`).update(body).digest('base64')}`;
  return {
    'webhook-id': '1-0',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `${signature(Buffer.from('other'))} ${signature(key)}`,
  };
}

/** The Dominican day. */
const TODAY = new Date(Date.now() - 4 * 3_600_000).toISOString().slice(0, 10);
const SALES = `reference,FechaEmision,RNCComprador,RazonSocialComprador,NombreItem,CantidadItem,PrecioUnitarioItem
A/1,${TODAY},188888885,"Taller Caoba Imaginario, SRL",Silla,2,500.00
A/2,${TODAY},188888885,"Taller Caoba Imaginario, SRL",Mesa,1,1500.55
A/3,${TODAY},18888888,"Taller Caoba Imaginario, SRL",Sofá,1,9000.00
A/4,${TODAY},188888885,"Taller Caoba Imaginario, SRL",Lámpara,3,33.33
A/5,${TODAY},188888885,"Taller Caoba Imaginario, SRL",Estante,1,800.00
A/6,${TODAY},188888885,"Taller Caoba Imaginario, SRL",Silla,1,500.00
A/6,${TODAY},188888885,"Taller Caoba Imaginario, SRL",Mesa,1,1500.55
`;

describe('the bridge from an ERP', () => {
  (available('python3', '--version') ? it : it.skip)(
    'prints each sale once after it was killed, and lists the refused ones with the reason, among them two with one reference: erp-bridge.py (needs python3)',
    async () => {
      const sales = path.join(folder, 'sales.csv');
      // Excel begins a file in UTF-8 with a byte order mark.
      fs.writeFileSync(sales, `\uFEFF${SALES}`);
      const submissions: Passed[] = [];
      let bridge: Running | null = null;
      // It is killed when the gateway has issued the fourth invoice and the bridge does not know its number.
      const gateway = await proxy((passed, response) => {
        if (passed.place !== 'POST /fe_Submit') return false;
        submissions.push(passed);
        if (passed.key !== 'A/4' || bridge === null) return false;
        bridge.child.kill('SIGKILL');
        response.destroy();
        return true;
      });
      const command = ['python3', path.join(EXAMPLES, 'erp-bridge.py'), sales, 'printed'];
      const env = { ECF_URL: gateway, ECF_API_KEY: apiKey };
      bridge = start(command, env);
      await bridge.ended;
      expect(bridge.child.signalCode).toBe('SIGKILL');
      bridge = null;
      // Answers come before the verdict: a sale that waits is printed by a later run.
      const summary = await until(
        async () => {
          const again = start(command, env);
          await again.ended;
          return again.output();
        },
        (text) => !/ [1-9]\d* waiting/.test(text),
      );
      expect(summary).toBe('4 printed, 0 waiting for the authority, 3 refused\n');
      const printed = fs.readdirSync(path.join(folder, 'printed')).sort();
      expect(printed).toEqual(['A%2F1.pdf', 'A%2F2.pdf', 'A%2F4.pdf', 'A%2F5.pdf', 'refused.csv']);
      const refused = fs.readFileSync(path.join(folder, 'printed', 'refused.csv'), 'utf8');
      expect(refused).toMatch(/^reference,reason\r\nA\/3,.*RNCComprador/s);
      expect(refused.match(/^A\/6,"2 rows have this reference,/gm)).toHaveLength(2);
      expect(submissions.map(({ key }) => key)).not.toContain('A/6');
      const numbers = new Map<string, Set<string>>();
      for (const { key = '', body } of submissions.filter(({ status }) => status === 200))
        numbers.set(key, (numbers.get(key) ?? new Set()).add(JSON.parse(body.toString()).encf));
      expect([...numbers].map(([key, used]) => [key, used.size])).toEqual(
        ['A/1', 'A/2', 'A/4', 'A/5'].map((key) => [key, 1]),
      );
    },
    180_000,
  );

  (available('python3', '--version') ? it : it.skip)(
    'ends with the answer of a proxy whose Retry-After is a date: erp-bridge.py (needs python3)',
    async () => {
      const sales = path.join(folder, 'one-sale.csv');
      fs.writeFileSync(sales, SALES.split('\n').slice(0, 2).join('\n'));
      const gateway = await serve((_, response) =>
        response.writeHead(503, { 'retry-after': new Date().toUTCString() }).end('busy'),
      );
      const command = ['python3', path.join(EXAMPLES, 'erp-bridge.py'), sales, 'unprinted'];
      const bridge = start(command, { ECF_URL: gateway, ECF_API_KEY: apiKey });
      expect([await bridge.ended, bridge.output()]).toEqual([1, '503: busy\n']);
    },
  );
});
