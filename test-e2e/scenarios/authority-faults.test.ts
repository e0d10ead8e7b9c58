import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Answer, type Client, newAccount, testCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { type Invoice, Numbering, otherContent } from '../support/documents/documents.js';

const ISSUER = { rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' };
const deployment = useDeployment({
  // Answers come before the verdict, so the immediate answer and the background work can be told apart.
  STATUS_WAIT_MS: '0',
  // Longer than a busy machine may suspend a process.
  AUTHORITY_TIMEOUT_MS: '3000',
  RESEND_AFTER_MS: '200',
  FIRST_RETRY_MS: '100',
  FIRST_QUERY_MS: '100',
  BACKGROUND_IDLE_MS: '250',
});
const numbers = new Numbering(ISSUER);
const client = (): Client => deployment.demo;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The gateway's entry about a document that waits, with the time of the next try. */
const WAITS = { codigo: 'gateway', valor: expect.stringContaining('the next try is at ') };

/** Expects the answer of `/fe_Submit` to a stored document that the authority has not answered yet. */
function expectInProcess(answer: Answer, encf: string, messages: readonly unknown[] = [WAITS]): void {
  expect(answer).toMatchObject({
    status: 200,
    body: { status: 'EnProceso', encf, sequence_used: null, messages, qr_url: expect.stringContaining(encf) },
  });
  expect(answer.body.xml).toContain('</Signature></ECF>');
}

/** Expects that the document ends accepted, with one effective submission of the bytes in the first answer. */
async function expectAcceptedOnce(invoice: Invoice, encf: string, first: Answer): Promise<void> {
  const last = await client().until('Aceptado', () => client().submit(invoice));
  expect(last.body.xml).toBe(first.body.xml);
  const sent = first.body.rfce_xml ?? first.body.xml;
  const rows = await client().ledger(encf);
  expect(rows.map(({ sha256, effective }) => ({ sha256, effective }))).toEqual([
    { sha256: sha256(sent), effective: true },
  ]);
  if (first.body.rfce_xml === undefined) expect(last.body.trackId).toBe(rows[0]?.track_id);
}

/** A full document and a summary, each with the operations that submit and query it. */
const ROUTES = [
  { example: 'ecf-31', operation: 'recepcion', query: 'consultatrackids' },
  { example: 'ecf-32', operation: 'recepcionfc', query: 'consultarfce' },
];

describe('a failed submission of a full document and of a summary', () => {
  it.each([
    ['down', { kind: 'down' }],
    ['cut before noting', { kind: 'reset' }],
    ['cut after noting', { kind: 'reset-after' }],
    ['silent, nothing noted', { kind: 'timeout' }],
    ['silent, noted', { kind: 'timeout-after' }],
    ['too slow', { kind: 'slow', delay_ms: 10_000 }],
    ['HTML with 200', { kind: 'http', status: 200, body: '<html><body>Espere</body></html>' }],
    ['HTML with 502', { kind: 'http', status: 502, body: '<html><body>Bad Gateway</body></html>' }],
    ['HTML with 403', { kind: 'http', status: 403, body: '<html><body>Forbidden</body></html>' }],
    ['an empty 400', { kind: 'http', status: 400, body: '' }],
    ['JSON without a verdict', { kind: 'http', status: 200, body: '{"mensaje":"hola"}' }],
    ['429', { kind: 'http', status: 429, body: '', headers: { 'Retry-After': '1' } }],
  ])('%s: 200 EnProceso, then accepted, with one submission of the same bytes', async (_what, fault) => {
    const ends = ROUTES.map(async ({ example, operation }) => {
      const { invoice, encf } = numbers.next(example);
      await client().fault({ operation, times: 1, ...fault });
      const first = await client().submit(invoice);
      expectInProcess(first, encf);
      expect((await client().submit(otherContent(invoice))).body.code).toBe('encf_already_used');
      await expectAcceptedOnce(invoice, encf, first);
    });
    await Promise.all(ends);
  });

  it('is queried again until the query succeeds', async () => {
    const ends = ROUTES.map(async ({ example, operation, query }) => {
      const { invoice, encf } = numbers.next(example);
      await client().fault({ operation, times: 1, kind: 'reset-after' });
      await client().fault({ operation: query, times: 3, kind: 'http', status: 500, body: '<html/>' });
      const first = await client().submit(invoice);
      expectInProcess(first, encf);
      await expectAcceptedOnce(invoice, encf, first);
    });
    await Promise.all(ends);
  });
});

describe('the authority', () => {
  it('may be slow within the timeout', async () => {
    const { invoice, encf } = numbers.next('ecf-32');
    await client().fault({ operation: 'recepcionfc', times: 1, kind: 'slow', delay_ms: 700 });
    expect((await client().submit(invoice)).body).toMatchObject({ status: 'Aceptado', encf });
  });

  it('whose login is down, slow or unreadable is 503 with Retry-After before anything is signed', async () => {
    const taxpayer = { rnc: '101000317', name: 'Sin Token Inventado, SRL' };
    const newcomer = await newAccount(deployment.running, taxpayer);
    const { invoice, encf } = new Numbering(taxpayer).next();
    for (const fault of [
      { kind: 'down' },
      { kind: 'timeout' },
      { kind: 'reset' },
      { kind: 'http', status: 200, body: '<html>hola</html>' },
      { kind: 'http', status: 400, body: '' },
      { kind: 'http', status: 503, body: '' },
    ]) {
      const end = await newcomer.fault({ operation: 'autenticacion', ...fault });
      const answer = await newcomer.submit(invoice);
      await end();
      expect(answer).toMatchObject({ status: 503, body: { code: 'authority_unreachable' } });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await newcomer.ledger(encf, taxpayer.rnc)).toEqual([]);
    const other = otherContent(invoice);
    expect((await newcomer.submit(other)).status).toBe(200);
    expect((await newcomer.until('Aceptado', () => newcomer.submit(other))).body.encf).toBe(encf);
  });

  it('that is killed and restarted receives every document once', async () => {
    const warm = numbers.next();
    await client().until('Aceptado', () => client().submit(warm.invoice));
    const simulator = childOf(deployment.running.child.pid as number, 'authority-simulator');
    const documents = ['ecf-31', 'ecf-32', 'ecf-31', 'ecf-32'].map((example) => numbers.next(example));
    process.kill(simulator, 'SIGKILL');
    const firsts = await Promise.all(documents.map(({ invoice }) => client().submit(invoice)));
    for (const [index, { invoice, encf }] of documents.entries()) {
      const first = firsts[index] as Answer;
      expect(first.status).toBe(200);
      await expectAcceptedOnce(invoice, encf, first);
    }
    expect(await client().ledger(warm.encf)).toHaveLength(1);
  });

  it('that is down for a while loses nothing: all documents are accepted once it is back', async () => {
    await client().token();
    const end = await client().fault({ operation: '*', kind: 'down' });
    const documents = Array.from({ length: 12 }, (_, index) => numbers.next(index % 2 === 0 ? 'ecf-31' : 'ecf-32'));
    const firsts = await Promise.all(documents.map(({ invoice }) => client().submit(invoice)));
    for (const [index, { encf }] of documents.entries()) expectInProcess(firsts[index] as Answer, encf);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await end();
    for (const [index, { invoice, encf }] of documents.entries())
      await expectAcceptedOnce(invoice, encf, firsts[index] as Answer);
  });

  it('that answers 004 gets the same summary again from the service', async () => {
    const { invoice, encf } = numbers.next('ecf-32');
    const verdict = {
      codigo: 2,
      mensajes: [{ codigo: '004', valor: 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.' }],
      secuenciaUtilizada: false,
    };
    await client().fault({ operation: 'recepcionfc', kind: 'verdict', times: 2, verdict });
    const first = await client().submit(invoice);
    expect(first.body.status).not.toBe('Rechazado');
    await client().until('Aceptado', () => client().submit(invoice));
    const rows = await client().ledger(encf);
    expect(rows.map(({ effective }) => effective)).toEqual([false, false, true]);
    expect(new Set(rows.map(({ sha256 }) => sha256))).toEqual(new Set([sha256(first.body.rfce_xml)]));
  });
});

describe('a credit note', () => {
  /** A note on an invoice of this issuer, over its first line. */
  const noteOn = (modified: string, edit: (ecf: Invoice) => void = () => undefined) =>
    numbers.next('ecf-34', (ecf) => {
      Object.assign(ecf.InformacionReferencia, { NCFModificado: modified, FechaNCFModificado: '15-06-2026' });
      edit(ecf);
    });

  it('waits for the document it modifies, and is submitted when that is accepted', async () => {
    const original = numbers.next();
    const release = await client().fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    expect((await client().submit(original.invoice)).body.status).toBe('EnProceso');
    const note = noteOn(original.encf);
    const answer = await client().submit(note.invoice);
    expectInProcess(answer, note.encf, [{ codigo: '', valor: expect.stringContaining(original.encf) }]);
    expect(answer.body.warnings).toEqual([expect.objectContaining({ code: '614' })]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await client().ledger(note.encf)).toEqual([]);
    await release();
    await client().until('Aceptado', () => client().submit(original.invoice));
    await expectAcceptedOnce(note.invoice, note.encf, answer);
  });

  it('that the authority would refuse is refused before its number is used', async () => {
    const original = numbers.next();
    await client().until('Aceptado', () => client().submit(original.invoice));
    for (const [code, edit] of [
      ['615', (ecf: Invoice) => (ecf.Encabezado.Comprador.RNCComprador = '101000333')],
      ['634', (ecf: Invoice) => (ecf.InformacionReferencia.FechaNCFModificado = '16-06-2026')],
    ] as const) {
      const note = noteOn(original.encf, edit);
      const answer = await client().submit(note.invoice);
      expect(answer.status).toBe(400);
      expect(answer.body.faults).toContainEqual(expect.objectContaining({ code }));
      expect(await client().ledger(note.encf)).toEqual([]);
    }
    const rejected = numbers.next();
    await client().fault({
      operation: 'recepcion',
      kind: 'verdict',
      times: 1,
      verdict: { codigo: 2, mensajes: ['no'], secuenciaUtilizada: true },
    });
    await client().until('Rechazado', () => client().submit(rejected.invoice));
    const note = noteOn(rejected.encf);
    expect((await client().submit(note.invoice)).body.faults).toContainEqual(expect.objectContaining({ code: '614' }));
  });
});

describe('a certificate that came with the request', () => {
  it('also serves the background work', async () => {
    const taxpayer = { rnc: '101000351', name: 'Firma Prestada Inventada, SRL' };
    const newcomer = await newAccount(deployment.running, taxpayer, { certificate: false });
    const { invoice, encf } = new Numbering(taxpayer).next();
    const file = testCertificate(taxpayer.rnc);
    await newcomer.fault({ operation: 'recepcion', times: 1, kind: 'reset' });
    const first = await newcomer.submitWith(invoice, file);
    expectInProcess(first, encf);
    const last = await newcomer.until('Aceptado', () => newcomer.submitWith(invoice, file));
    expect(last.body.xml).toBe(first.body.xml);
    expect(await newcomer.ledger(encf, taxpayer.rnc)).toHaveLength(1);
    expect((await newcomer.submit(otherContent(new Numbering(taxpayer).next().invoice))).body.code).toBe(
      'encf_already_used',
    );
  });
});

/** The child process whose command line names the program. */
function childOf(parent: number, program: string): number {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(parent)])
    .toString()
    .split('\n');
  return Number(
    rows
      .find((row) => row.includes(program))
      ?.trim()
      .split(' ')[0],
  );
}
