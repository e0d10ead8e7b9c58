import { SCOPES } from '@ecf/contracts';
import { parseXml, readXml, writeXml } from '@ecf/ecf-xml';
import { qrPng } from '@ecf/printed-form';
import { openCertificate, signXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type Client, newAccount, testCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { embeddedDatabase } from '../support/deployment/embedded-database.js';
import { encf, Numbering, signedByCaller, summaryByCaller } from '../support/documents/documents.js';
import { type GeneratedRequest, generateRequests, type Pool } from '../support/generated/generated-requests.js';
import { type DescribedOperation, failureCode, InterfaceDocument } from '../support/generated/interface-document.js';
import { Random } from '../support/generated/random.js';
import { createSender, type RawAnswer } from '../support/raw-request.js';
import { until } from '../support/until.js';

/** GENERATED_SEED repeats a run, GENERATED_ROUNDS makes it longer. */
const seed = Number(process.env.GENERATED_SEED ?? Date.now() % 1_000_000_007);
const rounds = Number(process.env.GENERATED_ROUNDS ?? 1);
const SENDERS = 6;

// With its servers in the data folder, because the test writes dead letters into a database.
const deployment = useDeployment(
  { STATUS_WAIT_MS: '300', PROCESSING_MS: '0', LOG_LEVEL: 'info' },
  { ownServers: true },
);
const random = new Random(seed);
const problems: string[] = [];
const counts = new Map<string, number>();
const succeeded = new Set<string>();
let sender: ReturnType<typeof createSender>;
let pool: Pool;
let publicDocument: InterfaceDocument;
let adminDocument: InterfaceDocument;

/** No program listens there. */
const DEAD_RECEIVER = 'http://127.0.0.1:1/events';
const newWebhook = { url: DEAD_RECEIVER, environments: ['TesteCF'] };
const DEAD_LETTER = { service: 'approvals', group: 'generated' };
const DISMISSED = 40;
const KEPT_WEBHOOK = ['findWebhook', 'changeWebhook', 'rotateWebhook', 'replayWebhook', 'testWebhook'];

const today = () => {
  const local = new Date(Date.now() - 4 * 3_600_000).toISOString();
  return `${local.slice(8, 10)}-${local.slice(5, 7)}-${local.slice(0, 4)}`;
};

beforeAll(async () => {
  const { running } = deployment;
  const { base_url, issuer_rnc, buyer_rnc } = running.demo;
  const client = deployment.demo;
  sender = createSender(base_url);
  publicDocument = new InterfaceDocument((await client.call('GET', '/openapi.json')).body);
  adminDocument = new InterfaceDocument((await client.call('GET', '/admin/openapi.json')).body);

  const numbers = new Numbering({ rnc: issuer_rnc, name: 'Comercial Palma Ficticia, SRL' });
  const consumers = new Numbering({ rnc: issuer_rnc, name: 'Comercial Palma Ficticia, SRL' });
  // Made once, because drawing it takes a part of a second.
  const logo = qrPng('https://example.com');
  const certificate = testCertificate(issuer_rnc);
  const issued: Answer['body'][] = [];
  for (let index = 0; index < 4; index += 1) issued.push((await client.submit(numbers.next().invoice)).body);
  const undelivered = numbers.next('ecf-31', (ecf) => {
    ecf.Encabezado.Comprador.RNCComprador = '131999999';
  });
  await client.submit(undelivered.invoice);
  // In CerteCF the authority cannot be queried after a lost answer, so the operator decides.
  const undecided = numbers.next();
  await client.fault({ operation: 'recepcion', kind: 'reset-after', times: 1 });
  await client.submit(undecided.invoice, { env: 'CerteCF' });
  const consumer = (await client.submit(consumers.next('ecf-32').invoice)).body;
  for (const { xml } of issued.slice(0, 2)) await push(client, '/fe/recepcion/api/ecf', xml);
  const token = await client.token();
  const signed = await Promise.all(
    Array.from({ length: 4 }, async () => (await signedByCaller(numbers.next().invoice, certificate)).xml),
  );
  const summaries = await Promise.all(
    Array.from({ length: 4 }, async () => (await summaryByCaller(consumers.next('ecf-32').invoice, certificate)).xml),
  );
  const seeds = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const { text } = await client.call('GET', '/fe/autenticacion/api/semilla');
      const tree = readXml(parseXml(Buffer.from(text)));
      return (await signXml(writeXml(tree), openCertificate(certificate.p12, certificate.password))).xml;
    }),
  );
  const approval = (index: number) => ({
    issuer_rnc,
    receiver_rnc: buyer_rnc,
    encf: issued[index].encf,
    approval_status: 1,
    approval_datetime: new Date().toISOString(),
    authority_environment: 'TesteCF',
    invoice_date_issued: '2026-06-15',
    invoice_total_amount: '11430.00',
  });
  const post = (path: string, body: object) =>
    client.call('POST', path, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  const approved = (await post('/acecf?submit_to_authority=false', approval(0))).body?.id ?? 1;
  const acecf = (await client.call('GET', `/acecf/${approved}/xml`)).text;
  // The operator decides whether this answer counts.
  const answered = (await post('/acecf?submit_to_authority=false', approval(1))).body?.id ?? 1;
  const answer = (await client.call('GET', `/acecf/${answered}/xml`)).text;
  await until(
    () => client.call('GET', `/invoices/${issued[1].encf}`, { headers: { 'rnc-issuing': issuer_rnc } }),
    ({ body }) => body.status === 'Aceptado',
  );
  expect((await push(client, '/fe/aprobacioncomercial/api/ecf', answer)).status).toBe(200);
  const about = `/fe/aprobacioncomercial/api/invoices/${issued[1].encf}/answers?issuer_rnc=${issuer_rnc}`;
  const answerId = (await client.call('GET', about)).body.answers[0].id as number;
  const demoAccount = (await demoAccountId(client, issuer_rnc)) as string;
  // The authority never answers readably, so the operator ends it.
  await client.fault({ operation: 'aprobacioncomercial', kind: 'http', status: 400, body: '<html>ERROR</html>' });
  const openApproval = (await post('/acecf', approval(issued.length - 1))).body?.id ?? 1;
  // The issuer has no receiver, so the operator starts another look-up.
  const unheard = (await post('/acecf', { ...approval(0), issuer_rnc: '131999999' })).body?.id ?? 1;
  const batchId = (await post('/batches', [numbers.next().invoice])).body.batch_id as string;
  let annulled = 500_000;
  const cancellation = () => {
    annulled += 20;
    const range = { encf_desde: encf('31', annulled), encf_hasta: encf('31', annulled + 9) };
    const line = { line_number: 1, ecf_type: '31', sequence_ranges: [range] };
    return { issuer_rnc, authority_environment: 'TesteCF', detail_lines: [line] };
  };
  const cancelled = (await post('/anecf', cancellation())).body?.id ?? 1;
  await client.fault({ operation: 'anulacionrangos', kind: 'reset-after', times: 1 });
  const doubtful = (await post('/anecf', cancellation())).body?.id ?? 1;
  await until(
    async () => (await client.admin('GET', '/cancellations/doubtful')).body?.cancellations?.length > 0,
    Boolean,
  );
  await until(async () => (await client.admin('GET', '/documents/alarmed')).body?.documents?.length > 0, Boolean);
  await until(
    async () => (await client.call('GET', `/received-arecf/?issuer_rnc=${issuer_rnc}`)).body.length > 0,
    Boolean,
  );

  const scratch = await newAccount(running, { rnc: '101000066', name: 'Cuenta de pruebas' }, { certificate: false });
  const other = (await client.admin('POST', '/accounts', { name: 'other' })).body.id as string;
  const keys: string[] = [];
  const people: string[] = [];
  const webhooks: string[] = [];
  const place = (await client.call('GET', '/events?limit=1')).body.next;
  for (let index = 0; index < 8; index += 1) {
    const made = await client.admin('POST', `/accounts/${scratch.accountId}/api-keys`, {
      name: 'k',
      environments: ['TesteCF'],
    });
    keys.push(made.body.id);
    const person = await client.admin('POST', '/administrators', { name: `person ${keys.length}`, role: 'viewer' });
    people.push(person.body.id);
    const webhook = await client.admin('POST', `/accounts/${scratch.accountId}/webhooks`, newWebhook);
    webhooks.push(webhook.body.id);
  }

  const manager = await client.admin('POST', `/accounts/${scratch.accountId}/api-keys`, {
    name: 'manager',
    environments: ['TesteCF', 'CerteCF'],
    scopes: [...SCOPES],
  });

  await addDeadLetters(['kept', ...Array.from({ length: DISMISSED }, (_, index) => `dismissed ${index}`)]);
  let dismissed = 0;

  const encfs = issued.map((invoice) => invoice.encf as string);
  const values: Record<string, readonly string[]> = {
    env: ['TesteCF'],
    'x-request-id': ['erp-4711'],
    encf: encfs,
    track_id: issued.map((invoice) => invoice.trackId as string),
    'rnc-issuing': [issuer_rnc],
    rnc_issuing: [issuer_rnc],
    issuer_rnc: [issuer_rnc],
    'provider-rnc': [issuer_rnc],
    'buyer-rnc': [buyer_rnc],
    receiver_rnc: [buyer_rnc],
    rnc_buyer: [buyer_rnc],
    rnc: [buyer_rnc],
    'start-date': [today(), '01-01-2026'],
    'end-date': ['31-12-2099'],
    'x-token': [token],
    authorization: [`Bearer ${token}`],
    document: ['ecf'],
    security_code: [consumer.security_code],
    submission_id: [String(cancelled)],
    batch_id: [batchId],
    after: ['0'],
    only: ['accepted'],
    'idempotency-key': ['generated'],
    idempotency_key: ['generated'],
    approval_id: [String(approved)],
    submit_to_authority: ['true', 'false'],
    file: ['swagger-ui.css', 'start.js', 'favicon-32x32.png'],
    keyId: keys,
    answerId: [String(answerId)],
    administratorId: people,
    webhookId: webhooks,
  };
  const exceptions: Record<string, Record<string, readonly string[]>> = {
    consumerInvoiceStatus: { encf: [consumer.encf] },
    invoiceXml: { sha256: [] },
    revokeApiKey: { keyId: keys.slice(1) },
    deleteAdministrator: { administratorId: people.slice(1) },
    findAdministrator: { administratorId: people.slice(0, 1) },
    findApiKey: { keyId: keys.slice(0, 1) },
    changeApiKey: { keyId: keys.slice(0, 1) },
    rotateApiKey: { keyId: keys.slice(0, 1) },
    ...Object.fromEntries(KEPT_WEBHOOK.map((id) => [id, { webhookId: webhooks.slice(0, 1) }])),
    deleteWebhook: { webhookId: webhooks.slice(1) },
  };
  const bodies: Record<string, (random: Random) => unknown> = {
    submitJson: () => ({ data: JSON.stringify(numbers.next().invoice) }),
    submitSigned: (chance) => ({ xml: chance.pick(signed) }),
    submitSignedSummary: (chance) => ({ xml: chance.pick(summaries) }),
    createBatch: () => [numbers.next().invoice],
    createCancellation: cancellation,
    createApproval: (chance) => approval(1 + chance.below(issued.length - 1)),
    receiveInvoice: (chance) => ({ xml: Buffer.from(chance.pick(issued).xml as string) }),
    receiveApproval: () => ({ xml: Buffer.from(acecf) }),
    validateSeed: (chance) => ({ xml: Buffer.from(chance.chance(0.3) ? (seeds.pop() ?? acecf) : acecf) }),
    createAccount: () => ({ name: 'generated' }),
    createTaxpayer: (chance) => ({ rnc: `40${String(chance.below(1e7)).padStart(7, '0')}`, name: 'generated' }),
    setAccountActive: (chance) => ({ active: chance.chance(0.5) }),
    setTaxpayerActive: (chance) => ({ active: chance.chance(0.5) }),
    putCertificate: () => ({ certificate: certificate.p12, password: certificate.password }),
    putLogo: () => logo,
    createApiKey: () => ({ name: 'generated', environments: ['TesteCF'] }),
    changeApiKey: (chance) => ({ refuse_warnings: chance.chance(0.5) }),
    rotateApiKey: () => ({ overlap_hours: 24 }),
    createAdministrator: (chance) => ({ name: `generated ${chance.below(1e9)}`, role: 'viewer' }),
    createWebhook: () => newWebhook,
    changeWebhook: () => ({ active: true, types: ['invoice.held'] }),
    replayWebhook: () => ({ after: place }),
    settleApproval: () => ({ id: openApproval, outcome: 'accepted', note: 'generated' }),
    retryApproval: () => ({ id: unheard }),
    decideApproval: (chance) => ({ counts: chance.chance(0.5), reason: 'generated' }),
    settleCancellation: () => ({ id: doubtful, outcome: 'accepted', note: 'generated' }),
    resolveDocument: (chance) => ({
      ...{ env: 'CerteCF', issuer_rnc, encf: undecided.encf },
      ...(chance.chance(0.5) ? { action: 'resend' } : { action: 'adopt', track_id: 'generated' }),
    }),
    retryDelivery: () => ({ env: 'TesteCF', issuer_rnc, encf: undelivered.encf }),
    replayDeadLetter: () => ({ ...DEAD_LETTER, event_id: 'kept' }),
    dismissDeadLetter: () => {
      dismissed = (dismissed + 1) % DISMISSED;
      return { ...DEAD_LETTER, event_id: `dismissed ${dismissed}`, reason: 'generated' };
    },
    startRun: () => ({ env: 'CerteCF', reason: 'generated' }),
    signIn: () => ({ api_key: running.demo.api_key }),
    putRanges: () => [
      { env: 'TesteCF', ecf_type: '31', from: 'E310000000001', to: 'E310000001000', expires: '2028-12-31' },
    ],
  };
  const signedIn = await fetch(`${running.demo.base_url}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: running.demo.api_key }),
  });
  const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] as string;
  pool = {
    values(operation, { name, example }) {
      const special = exceptions[operation.id]?.[name];
      if (special !== undefined) return special.length > 0 ? special : [String(example)];
      if (operation.path.startsWith('/admin') && name === 'id')
        return [{ setAccountActive: other, decideApproval: demoAccount }[operation.id] ?? scratch.accountId];
      if (/^\/(admin|account)\b/.test(operation.path) && name === 'rnc') return ['101000066'];
      return values[name] ?? [String(example)];
    },
    body: (operation, chance) => bodies[operation.id]?.(chance),
    access(operation) {
      if (operation.id === 'session') return [['cookie', cookie]];
      if (operation.path.startsWith('/account')) return [['x-api-key', manager.body.key]];
      if (operation.security[0]?.apiKey !== undefined) return [['x-api-key', running.demo.api_key]];
      if (operation.security[0]?.adminToken !== undefined)
        return [['authorization', `Bearer ${running.demo.admin_token}`]];
      return [];
    },
  };
});
afterAll(() => {
  sender?.close();
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const byStatus = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([status, count]) => `${count} × ${status}`);
  process.stderr.write(`generated requests: ${total} (${byStatus.join(', ')}), GENERATED_SEED=${seed}\n`);
});

/** Adds events that no consumer will handle, to the dead letters of a service. */
async function addDeadLetters(ids: readonly string[]): Promise<void> {
  const { service, group } = DEAD_LETTER;
  const database = embeddedDatabase(deployment.dataDir, service);
  await database.query(
    `INSERT INTO dead_letters (consumer_group, event_id, topic, event, reason, attempts)
     SELECT $1, id, 'invoices.v1', json_build_object('id', id, 'topic', 'invoices.v1', 'type', 'invoice.changed', 'key', 'k'),
       'generated', 1
     FROM unnest($2::text[]) AS id`,
    [group, ids],
  );
  await database.close();
}

/** The account that owns a taxpayer. */
async function demoAccountId(client: Client, rnc: string): Promise<string | undefined> {
  for (const { id } of (await client.admin('GET', '/accounts')).body)
    if ((await client.admin('GET', `/accounts/${id}/taxpayers/${rnc}`)).status === 200) return id;
  return undefined;
}

function push(client: Client, path: string, xml: string) {
  const form = new FormData();
  form.set('xml', new Blob([xml]), 'document.xml');
  return client.call('POST', path, { body: form });
}

function checkAnswer(
  document: InterfaceDocument,
  operation: DescribedOperation,
  request: GeneratedRequest,
  answer: RawAnswer,
) {
  const counted =
    answer.status < 500 ? String(answer.status) : `${answer.status} ${operation.id} ${failureCode(answer)}`;
  counts.set(counted, (counts.get(counted) ?? 0) + 1);
  const head = request.method === 'HEAD';
  const other = request.method !== operation.method && !(head && operation.method === 'GET');
  const found = other ? refusal(document, answer, head) : document.undocumented(operation, answer, head);
  if (!other && answer.status < 300) succeeded.add(operation.id);
  for (const problem of found)
    problems.push(`${operation.id} (${request.kind}) ${request.method} ${request.path.slice(0, 200)}: ${problem}`);
}

/** A method that the path does not have. */
function refusal(document: InterfaceDocument, answer: RawAnswer, head: boolean): string[] {
  if (answer.status !== 405) return [`${answer.status} instead of 405: ${answer.body.subarray(0, 300)}`];
  if (answer.headers.allow === undefined) return ['405 without allow'];
  const faults = head
    ? null
    : document.faultsOf({ $ref: '#/components/schemas/ErrorBody' }, JSON.parse(answer.body.toString()));
  return faults === null ? [] : [faults];
}

async function sendAll(document: InterfaceDocument): Promise<void> {
  const taken = new Set(document.operations.map(({ method, path }) => `${method} ${path}`));
  const queue = Array.from({ length: rounds }, () => document.operations)
    .flat()
    .flatMap((operation) =>
      [...generateRequests(operation, pool, random, taken)].map((request) => ({ operation, request })),
    );
  const sendNext = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { operation, request } = next;
      try {
        checkAnswer(document, operation, request, await sender.send(request));
      } catch (error) {
        problems.push(`${operation.id} (${request.kind}) ${request.method} ${request.path.slice(0, 200)}: ${error}`);
      }
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sendNext));
}

describe('generated valid and invalid requests', () => {
  it(
    'get from every public operation only what the document says, and no failure',
    async () => {
      await sendAll(publicDocument);
      expect(problems.splice(0)).toEqual([]);
    },
    600_000 * rounds,
  );

  it(
    'get from every operation of the administration only what its document says',
    async () => {
      await sendAll(adminDocument);
      expect(problems.splice(0)).toEqual([]);
    },
    600_000 * rounds,
  );

  it('include a valid one for every operation', () => {
    const all = [...publicDocument.operations, ...adminDocument.operations].map(({ id }) => id);
    expect(all.filter((id) => !succeeded.has(id))).toEqual([]);
  });

  it('of one object get 304 if the caller has the answer, and the answer if it has another', async () => {
    const cached = publicDocument.operations.filter(({ answers }) => answers['304'] !== undefined);
    expect(cached.length).toBeGreaterThan(10);
    // The requests before may have removed the logo.
    const [logo] = publicDocument.operations
      .filter(({ id }) => id === 'putLogo')
      .flatMap((operation) => [...generateRequests(operation, pool, random, new Set())]);
    await sender.send(logo as GeneratedRequest);
    for (const operation of cached) {
      const [request] = [...generateRequests(operation, pool, random, new Set())] as [GeneratedRequest];
      const told = async (tag: string) => {
        const headers: GeneratedRequest['headers'] = [...request.headers, ['if-none-match', tag]];
        const answer = await sender.send({ ...request, headers });
        expect(publicDocument.undocumented(operation, answer)).toEqual([]);
        return [answer.status, answer.headers['cache-control'], answer.body.length > 0];
      };
      const { etag = '' } = (await sender.send(request)).headers;
      expect([operation.id, await told(etag), await told(`"other", W/${etag}`), await told('"other"')]).toEqual([
        operation.id,
        [304, 'private, no-cache', false],
        [304, 'private, no-cache', false],
        [200, 'private, no-cache', true],
      ]);
    }
  });

  it('that are too large are refused as documented', async () => {
    for (const operation of publicDocument.operations.filter(({ body }) => Object.keys(body).length > 0)) {
      const [request] = [...generateRequests(operation, pool, random, new Set())];
      if (request === undefined) continue;
      const tooLarge = (operation.id === 'createBatch' ? 101 : 11) * 1024 * 1024;
      const answer = await sender.send({ ...request, body: Buffer.alloc(tooLarge, 0x20) });
      expect({ id: operation.id, status: answer.status }).toEqual({ id: operation.id, status: 413 });
      expect(publicDocument.undocumented(operation, answer)).toEqual([]);
    }
    for (const operation of publicDocument.operations.slice(0, 3)) {
      const [request] = [...generateRequests(operation, pool, random, new Set())];
      if (request === undefined) continue;
      const answer = await sender.send({ ...request, headers: [...request.headers, ['x-long', 'x'.repeat(20_000)]] });
      expect(answer.status).toBe(431);
      expect(publicDocument.undocumented(operation, answer)).toEqual([]);
    }
  });
});
