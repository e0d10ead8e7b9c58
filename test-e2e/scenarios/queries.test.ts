import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type Client, newAccount, testCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { ecf } from '../support/deployment/ecf-command.js';
import { Numbering, withLines } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment({ STATUS_WAIT_MS: '0', FIRST_QUERY_MS: '200' });
const ISSUER = { rnc: '122222227', name: 'Consultas Ficticias, SRL' };
const SISTER = { rnc: '133333331', name: 'Hermana Ficticia, SRL' };
const numbers = new Numbering(ISSUER);
let client: Client & { accountId: string };

const dayOf = (ms: number) => {
  const local = new Date(ms - 4 * 3_600_000).toISOString();
  return `${local.slice(8, 10)}-${local.slice(5, 7)}-${local.slice(0, 4)}`;
};
const DAY = 86_400_000;
const period = () => ({
  'rnc-issuing': ISSUER.rnc,
  'start-date': dayOf(Date.now() - DAY),
  'end-date': dayOf(Date.now() + DAY),
});
const get = (path: string, headers: Record<string, string> = period()): Promise<Answer> =>
  client.call('GET', path, { headers });
const count = async () => (await get('/invoices/count/')).body.total_invoices as number;

beforeAll(async () => {
  client = await newAccount(deployment.running, ISSUER, { environments: ['TesteCF', 'CerteCF'] });
  await client.admin('POST', `/accounts/${client.accountId}/taxpayers`, SISTER);
});

describe('a submitted document', () => {
  it('is found by its number immediately, and in lists, counts and sums once its event has arrived', async () => {
    for (const example of ['ecf-31', 'ecf-32', 'ecf-44', 'ecf-31']) {
      const before = await count();
      const { invoice, encf } = numbers.next(example);
      const submitted = (await client.submit(invoice)).body;
      const found = (await get(`/invoices/${encf}`)).body;
      expect(found).toMatchObject({
        encf,
        security_code: submitted.security_code,
        qr_url: submitted.qr_url,
        track_id: submitted.trackId ?? null,
        xml_checksum: createHash('sha256').update(submitted.xml).digest('hex'),
      });
      expect((await get(`/${encf}/xml`)).text).toBe(submitted.xml);
      expect((await get(`/trackids/${encf}`)).body).toMatchObject({
        count: 1,
        track_ids: [{ attempt: 1, track_id: submitted.trackId ?? null }],
      });
      await until(count, (total) => total === before + 1);
      expect((await get('/invoices/aggregate/')).body.total_invoices).toBe(before + 1);
      expect((await get('/invoices/?limit=1')).body).toMatchObject({ total: before + 1, invoices: [{ encf }] });
    }
  });

  it('is found by each of many callers that submit at the same time', async () => {
    const before = await count();
    const own = await Promise.all(
      Array.from({ length: 24 }, async () => {
        const { invoice, encf } = numbers.next();
        await client.submit(invoice);
        return (await get(`/invoices/${encf}`)).status;
      }),
    );
    expect(own).toEqual(own.map(() => 200));
    await until(count, (total) => total === before + 24);
  });
});

describe('state changes in the read models', () => {
  it('a rejected number that was used again shows both submissions and the raw answers', async () => {
    const verdict = {
      codigo: '2',
      estado: 'Rechazado',
      mensajes: [{ codigo: '1', valor: 'no' }],
      secuenciaUtilizada: false,
    };
    const release = await client.fault({ operation: 'recepcion', kind: 'verdict', verdict, times: 1 });
    const { invoice, encf } = numbers.next();
    await client.submit(invoice);
    await client.until('Rechazado', () => get(`/invoices/${encf}`));
    await release();
    await client.submit(invoice);
    await client.until('Aceptado', () => get(`/invoices/${encf}`));
    const { body } = await get(`/trackids/${encf}`);
    expect(body.track_ids).toMatchObject([
      { attempt: 1, status: 'Rechazado', sequence_used: false, final: true },
      { attempt: 2, status: 'Aceptado', sequence_used: true, final: true },
    ]);
    expect(new Set(body.track_ids.map(({ track_id }: { track_id: string }) => track_id)).size).toBe(2);
    const raw = (await get(`/trackids/${encf}/raw`)).body;
    expect(raw.track_ids.map(({ track_id }: { track_id: string }) => track_id)).toEqual(
      body.track_ids.map(({ track_id }: { track_id: string }) => track_id),
    );
    expect(raw.track_ids[0].raw[0]).toMatchObject({
      operation: 'submitDocument',
      http_status: 200,
      body: expect.any(String),
    });
  });

  it('a note that waited for a document that is rejected stays visible, with the reason', async () => {
    const waiting = await client.fault({ operation: 'consultaresultado', kind: 'processing' });
    const { invoice, encf: original } = numbers.next();
    await client.submit(invoice);
    const { invoice: credit, encf } = numbers.next('ecf-34', (ecf) => {
      Object.assign(ecf.InformacionReferencia, { NCFModificado: original });
    });
    const held = await client.submit(credit);
    const waits = [{ codigo: '', valor: expect.stringContaining(original) }];
    expect(held).toMatchObject({ status: 200, body: { status: 'EnProceso', messages: waits } });
    expect((await get(`/invoices/${encf}`)).body).toMatchObject({ status: 'EnProceso', messages: waits });
    expect((await get(`/invoices/${original}`)).status).toBe(200);
    const before = await count();
    const verdict = { codigo: '2', estado: 'Rechazado', mensajes: [], secuenciaUtilizada: true };
    const rejecting = await client.fault({ operation: 'consultaresultado', kind: 'verdict', verdict });
    await waiting();
    const shown = await client.until('Rechazado', () => get(`/invoices/${encf}`));
    await rejecting();
    expect(shown.body).toMatchObject({ code: null, sequence_used: false, track_id: null, messages: waits });
    expect(await count()).toBe(before);
    const { invoices } = (await get('/invoices/?limit=1000')).body;
    expect(invoices.find((one: { encf: string }) => one.encf === encf)).toEqual(shown.body);
    expect((await get(`/trackids/${encf}`)).body).toMatchObject({ count: 1, track_ids: [{ track_id: null }] });
    expect((await get(`/${encf}/xml`)).text).toBe(held.body.xml);
    expect(await client.ledger(encf, ISSUER.rnc)).toEqual([]);
  });

  it('sums equal a scan of the list to the cent once everything is decided; credit notes are negative', async () => {
    const { invoice: large, encf: original } = numbers.next();
    await client.submit(withLines(large, 37));
    await client.until('Aceptado', () => get(`/invoices/${original}`));
    const { invoice: note } = numbers.next('ecf-34', (ecf) => {
      const { ECF } = withLines({ ECF: ecf }, 5);
      Object.assign(ecf, ECF);
      delete ecf.Encabezado.IdDoc.TablaFormasPago;
      ecf.Encabezado.IdDoc.IndicadorNotaCredito = '0';
      Object.assign(ecf.InformacionReferencia, { NCFModificado: original, CodigoModificacion: '3' });
    });
    const submitted = await client.submit(note);
    expect(submitted.body).toMatchObject({ encf: expect.stringMatching(/^E34/) });
    await client.until('Aceptado', () => get(`/invoices/${submitted.body.encf}`));
    const list = async () => (await get('/invoices/?limit=1000')).body.invoices as Record<string, string>[];
    const invoices = await until(list, (all) => all.every(({ status }) => status !== 'EnProceso'));
    const accepted = invoices.filter(({ status }) => status?.startsWith('Aceptado'));
    const cents = (one: Record<string, string>, field: string) =>
      BigInt((one[field] as string).replace('.', '')) * (one.ecf_type === '34' ? -1n : 1n);
    const sum = (field: string) => accepted.reduce((total, one) => total + cents(one, field), 0n);
    const { body } = await get('/invoices/aggregate/');
    expect(body.total_invoices).toBe(invoices.length);
    expect([body.total_amount, body.total_itbis].map((amount) => BigInt(amount.replace('.', '')))).toEqual([
      sum('total_amount'),
      sum('total_itbis'),
    ]);
    expect(body.by_type.find(({ ecf_type }: { ecf_type: string }) => ecf_type === '34')).toMatchObject({
      count: 1,
      total_amount: '-5.00',
    });
    expect(body.by_month.reduce((all: number, { count: some }: { count: number }) => all + some, 0)).toBe(
      accepted.length,
    );
    expect(body.by_status.find(({ status }: { status: string }) => status === 'Aceptado').count).toBe(
      accepted.filter(({ status }) => status === 'Aceptado').length,
    );
  });
});

describe('what an accountant looks for', () => {
  it('documents by the own reference of the ERP, in lists, events, batches and CSV', async () => {
    const [sale, sold] = [numbers.next(), numbers.next()];
    await client.submit(sale.invoice, { 'x-reference': 'sale-4711' });
    await client.submit(sale.invoice, { 'x-reference': 'sale-4712' });
    const batch = await client.call('POST', '/batches', {
      headers: { 'content-type': 'application/x-ndjson' },
      body: JSON.stringify({ ...sold.invoice, reference: 'sale-4711' }),
    });
    const results = async () => (await client.call('GET', `/batches/${batch.body.batch_id}/results`)).body.results;
    await until(results, ([line]) => line.status !== null && line.reference === 'sale-4711');
    const listed = async (reference: string) =>
      (await get(`/invoices/?reference=${reference}&sort=created_at`)).body.invoices.map(
        (one: { encf: string }) => one.encf,
      );
    await until(
      () => listed('sale-4711'),
      (found) => found.length === 2,
    );
    expect(await listed('sale-4711')).toEqual([sale.encf, sold.encf]);
    expect(await listed('sale-4712')).toEqual([]);
    const found = await client.until('Aceptado', () => get(`/invoices/${sale.encf}`));
    expect(found.body.reference).toBe('sale-4711');
    const events = async () => (await client.call('GET', '/events?types=invoice.accepted&limit=1000')).body.events;
    const ofSale = ({ data }: { data: { encf: string; reference: string } }) =>
      data.encf === sale.encf && data.reference === 'sale-4711';
    await until(events, (seen) => seen.some(ofSale));
    const csv = await get('/invoices/?reference=sale-4711&bom=true', { ...period(), accept: 'text/csv' });
    const [names = '', ...rows] = csv.text.trimEnd().split('\r\n');
    const at = names.split(',').indexOf('reference');
    expect(rows.map((row) => row.includes(',sale-4711,'))).toEqual([true, true]);
    expect(at).toBeGreaterThan(0);
  });

  it('documents by their date of issue, and sums that say what they count', async () => {
    const { invoice, encf } = numbers.next();
    const issued = '03-02-2024';
    Object.assign(invoice.ECF.Encabezado.Emisor, { FechaEmision: issued });
    await client.submit(invoice);
    await client.until('Aceptado', () => get(`/invoices/${encf}`));
    const onDay = { 'rnc-issuing': ISSUER.rnc, 'start-date': issued, 'end-date': issued };
    expect((await get('/invoices/?period=issued', onDay)).body).toMatchObject({ total: 1, invoices: [{ encf }] });
    expect((await get('/invoices/?period=created', onDay)).body.total).toBe(0);
    expect((await get('/invoices/count/?period=issued', onDay)).body.total_invoices).toBe(1);
    const { body } = await get('/invoices/aggregate/?period=issued', onDay);
    expect(body).toMatchObject({ total_invoices: 1, counted: 1, by_month: [{ month: '2024-02', count: 1 }] });
    const all = (await get('/invoices/aggregate/')).body;
    expect(all.by_status.reduce((sum: number, { count: some }: { count: number }) => sum + some, 0)).toBe(
      all.total_invoices,
    );
    expect(all.by_type.reduce((sum: number, { count: some }: { count: number }) => sum + some, 0)).toBe(all.counted);
  });
});

describe('stored XML', () => {
  it('of the consumer summary, and of two taxpayers under one number', async () => {
    const { invoice, encf } = numbers.next('ecf-32');
    const { body } = await client.submit(invoice);
    expect((await get(`/${encf}/xml?document=rfce`)).text).toBe(body.rfce_xml);
    expect((await get(`/${encf.toLowerCase()}/xml`)).text).toBe(body.xml);

    const { invoice: shared, encf: number } = numbers.next();
    await client.submit(shared);
    Object.assign(shared.ECF.Encabezado.Emisor, { RNCEmisor: SISTER.rnc, RazonSocialEmisor: SISTER.name });
    // The second taxpayer has no stored certificate, so one comes with the request.
    await client.submitWith(shared, testCertificate(SISTER.rnc));
    expect(await get(`/${number}/xml`)).toMatchObject({ status: 400, body: { code: 'ambiguous_encf' } });
    expect((await get(`/${number}/xml?issuer_rnc=${SISTER.rnc}`)).text).toContain(`<RNCEmisor>${SISTER.rnc}`);
    expect((await get(`/${number}/xml?issuer_rnc=${ISSUER.rnc}`)).text).toContain(`<RNCEmisor>${ISSUER.rnc}`);
  });

  it('of a document that a provider has just delivered', async () => {
    const { authority_url, base_url, buyer_rnc } = deployment.running.demo;
    const order = await fetch(`${authority_url}/testecf/emisorreceptor/api/emision/emisioncomprobantes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ rnc: buyer_rnc, tipoEncf: '31', urlRecepcion: base_url }),
    });
    const sent = await order.text();
    const [encf, provider] = [/<eNCF>([^<]+)/, /<RNCEmisor>([^<]+)/].map((pattern) => pattern.exec(sent)?.[1]);
    const received = await deployment.demo.call('GET', `/${encf}/xml?issuer_rnc=${provider}`);
    expect([received.status, received.text]).toEqual([200, expect.stringContaining(`<eNCF>${encf}`)]);
    expect((await get(`/${encf}/xml?issuer_rnc=${provider}`)).status).toBe(404);
  });
});

describe('queries to the authority', () => {
  it('a consumer invoice by its security code', async () => {
    const { invoice, encf } = numbers.next('ecf-32');
    const { security_code } = (await client.submit(invoice)).body;
    const query = (code: string) =>
      get(
        `/query-consumption-invoice/?rnc_issuing=${ISSUER.rnc}&encf=${encf}&security_code=${encodeURIComponent(code)}`,
      );
    await client.until('Aceptado', () => get(`/invoices/${encf}`));
    expect((await query(security_code)).body).toMatchObject({
      rnc: ISSUER.rnc,
      encf,
      status: 'Aceptado',
      sequence_used: true,
    });
    expect(await query('nobody')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const release = await client.fault({ operation: 'consultarfce', kind: 'down' });
    expect(await query(security_code)).toMatchObject({ status: 503, body: { code: 'authority_unreachable' } });
    await release();
    const page = await client.fault({
      operation: 'consultarfce',
      kind: 'http',
      status: 200,
      body: '<html>mantenimiento</html>',
    });
    expect(await query(security_code)).toMatchObject({ status: 502, body: { code: 'authority_unreadable' } });
    await page();
  });

  it('the directory', async () => {
    const { body } = await get('/directory/taxpayers', {});
    const { buyer_rnc } = deployment.running.demo;
    expect(body.map(({ rnc }: { rnc: string }) => rnc)).toContain(buyer_rnc);
    expect((await get(`/directory/taxpayers/${buyer_rnc}`, {})).body).toEqual(
      body.find(({ rnc }: { rnc: string }) => rnc === buyer_rnc),
    );
    expect(await get('/directory/taxpayers/100000000', {})).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await get('/directory/taxpayers', { env: 'CerteCF' })).toMatchObject({
      status: 422,
      body: { code: 'service_not_in_environment' },
    });
  });

  it('whether its services are up', async () => {
    const { status, body } = await get('/monitoring/status', {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ env: 'TesteCF', available: true });
    expect(body.services).toContainEqual({
      service: 'Recepción',
      status: 'available',
      environment: 'PreCertificacion',
    });
    expect(body.maintenance_windows[0]).toMatchObject({ days: [expect.stringMatching(/^\d\d-\d\d-\d{4}$/)] });
    const release = await client.fault({ operation: 'recepcion', kind: 'down' });
    const during = (await get('/monitoring/status', {})).body;
    expect(during.services).toContainEqual({
      service: 'Recepción',
      status: 'unavailable',
      environment: 'PreCertificacion',
    });
    await release();
  });
});

describe('bad input', () => {
  it.each([
    ['/invoices/', { 'start-date': '31-02-2026' }, 422],
    ['/invoices/', { 'start-date': '01-01-2027', 'end-date': '01-01-2026' }, 422],
    ['/invoices/?limit=0', {}, 422],
    ['/invoices/?limit=1001', {}, 422],
    ['/invoices/?offset=99999999', {}, 200],
    ['/invoices/aggregate/?top_clients_limit=51', {}, 422],
    ['/invoices/', { 'rnc-issuing': '199999991' }, 404],
    ['/invoices/', { 'rnc-issuing': "122222227';DROP TABLE invoice" }, 422],
    ['/invoices/E310000009999', {}, 404],
    ['/invoices/E31', {}, 422],
    ['/trackids/e310000009999', {}, 404],
    ['/E310000009999/xml', {}, 404],
    ["/invoices/E310000000001'%20OR%20'1'='1", {}, 422],
    ['/trackids/E310000000001%0D%0AX-Injected:%20yes', {}, 422],
    ["/E310000000001/xml?issuer_rnc=1'%3BDROP%20TABLE%20invoice", {}, 422],
    ["/query-consumption-invoice/?rnc_issuing=122222227&encf=E320000000001&security_code='%3B--%20%20", {}, 404],
    ['/invoice-status/%00', {}, 422],
    ['/directory/taxpayers/12', {}, 422],
  ])('%s %j is %i', async (path, headers, status) => {
    expect((await get(path, { ...period(), ...headers } as Record<string, string>)).status).toBe(status);
  });

  it('missing headers are named', async () => {
    const { status, body } = await get('/invoices/', {});
    expect([status, body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')).sort()]).toEqual([
      422,
      ['header.end-date', 'header.rnc-issuing', 'header.start-date'],
    ]);
  });
});

describe('operator commands', () => {
  it('ecf rebuild query rebuilds the read models; lists and sums are never incomplete', async () => {
    const before = await count();
    const sums = async () => (await get('/invoices/aggregate/?period=issued')).body;
    const sold = async () =>
      (await get('/invoices/?reference=sale-4711')).body.invoices.map((one: { encf: string }) => one.encf);
    const [sumsBefore, soldBefore] = [await sums(), await sold()];
    let running = true;
    const seen = new Set<number | undefined>();
    const asking = (async () => {
      while (running) {
        seen.add(await count());
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const { code, rows, stderr } = await ecf(deployment, 'rebuild', 'query');
    running = false;
    await asking;
    expect({ code, rows, stderr }).toMatchObject({ code: 0, rows: [{ building: false, failure: null }] });
    expect(rows[0].documents).toBeGreaterThanOrEqual(before);
    // Undefined = 503 during the rebuild.
    expect([...seen].filter((total) => total !== undefined)).toEqual([before]);
    expect([await sums(), await sold()]).toEqual([sumsBefore, soldBefore]);
    const { invoice, encf } = numbers.next();
    await client.submit(invoice);
    expect((await get(`/invoices/${encf}`)).status).toBe(200);
    expect((await ecf(deployment, 'rebuild', 'everything')).code).toBe(2);
  });

  it('ecf verify-archive finds exactly the missing, altered and unknown documents', async () => {
    const [lost, changed] = [numbers.next().invoice, numbers.next().invoice];
    const files: string[] = [];
    for (const invoice of [lost, changed]) {
      const { body } = await client.submit(invoice);
      files.push((await get(`/invoices/${body.encf}`)).body.xml_storage_path);
    }
    const [missing = '', altered = ''] = files;
    for (const { rnc } of [ISSUER, SISTER])
      await until(
        async () => (await get('/invoices/?limit=1000', { ...period(), 'rnc-issuing': rnc })).body.invoices,
        (all: Record<string, string>[]) =>
          all.every(({ status, delivery_status }) => status !== 'EnProceso' && delivery_status !== 'pending'),
      );
    const root = path.join(deployment.dataDir, 'xml');
    const unknown = 'TesteCF/ecf/122222227/issued/2026/01/left-over.xml';
    const verified = await until(
      () => ecf(deployment, 'verify-archive', '--recent', '0'),
      (outcome) => outcome.stderr.includes(' 0 pending'),
    );
    expect(verified).toMatchObject({ code: 0, rows: [] });
    fs.rmSync(path.join(root, missing));
    fs.appendFileSync(path.join(root, altered), ' ');
    fs.mkdirSync(path.dirname(path.join(root, unknown)), { recursive: true });
    fs.writeFileSync(path.join(root, unknown), '<ECF/>');
    const { code, rows, stderr } = await ecf(deployment, 'verify-archive', '--recent', '0');
    expect(code).toBe(1);
    expect(rows.map(({ problem, path, service }) => [problem, path, service])).toEqual(
      expect.arrayContaining([
        ['missing', missing, 'emission'],
        ['altered', altered, 'emission'],
        ['unknown', unknown, null],
      ]),
    );
    expect(rows).toHaveLength(3);
    expect(stderr).toContain('1 missing, 1 altered, 0 pending; 1 unknown objects');
    fs.rmSync(path.join(root, unknown));
  });

  it('without the archive, documents are submitted and read; they are archived once it is back', async () => {
    const root = path.join(deployment.dataDir, 'xml');
    const ready = async () => (await fetch(`${deployment.running.demo.base_url}/health/ready`)).status;
    fs.renameSync(root, `${root}-away`);
    let submitted: Answer;
    try {
      submitted = await client.submit(numbers.next().invoice);
      expect(submitted.status).toBe(200);
      expect((await get(`/${submitted.body.encf}/xml`)).text).toBe(submitted.body.xml);
      await until(
        () => deployment.metrics(),
        (text) => /^ecf_archive_failures_total\{[^}]*service="emission",reason="unavailable"\} [1-9]/m.test(text),
      );
      expect(await ready()).toBe(200);
      expect(fs.existsSync(root)).toBe(false);
    } finally {
      fs.renameSync(`${root}-away`, root);
    }
    const { xml_storage_path } = (await get(`/invoices/${submitted.body.encf}`)).body;
    await until(
      async () => fs.existsSync(path.join(root, xml_storage_path)),
      (isArchived) => isArchived,
    );
    expect((await get(`/${submitted.body.encf}/xml`)).text).toBe(submitted.body.xml);
  });

  it('ecf resolve ends the uncertainty of an e-CF in CerteCF, either way', async () => {
    for (const [kind, flag] of [
      ['reset-after', '--adopt'],
      ['reset', '--resend'],
    ] as const) {
      const { invoice, encf } = numbers.next();
      const release = await client.fault({ operation: 'recepcion', kind });
      await client.submit(invoice, { env: 'CerteCF' });
      const alarmed = async () => {
        const { rows } = await ecf(deployment, 'resolve', 'list', '--env', 'CerteCF', '--issuer', ISSUER.rnc);
        return rows.find((row) => row.encf === encf);
      };
      await until(alarmed, (row) => row?.alarm === 'no-query');
      await release();
      const [sent] = await client.ledger(encf);
      const decision = flag === '--adopt' ? [flag, sent?.track_id ?? ''] : [flag];
      const name = ['resolve', ISSUER.rnc, encf, '--env', 'CerteCF'];
      const done = { encf, adopted: flag === '--adopt', resent: flag === '--resend' };
      expect(await ecf(deployment, ...name, ...decision)).toMatchObject({ code: 0, rows: [done] });
      await client.until('Aceptado', () => client.submit(invoice, { env: 'CerteCF' }));
      expect((await client.ledger(encf)).filter(({ effective }) => effective)).toHaveLength(1);
      expect(await alarmed()).toBeUndefined();
      const target = `/documents/CerteCF/${ISSUER.rnc}/${encf}`;
      const { entries } = (await client.admin('GET', `/audit?target=${target}`)).body;
      expect(entries).toMatchObject([{ action: 'document.resolve', target, details: { action: flag.slice(2) } }]);
      const again = await ecf(deployment, ...name, '--resend');
      expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('409')]);
    }
    expect((await ecf(deployment, 'resolve', ISSUER.rnc, 'E310000000001', '--env', 'CerteCF')).code).toBe(2);
  });

  it('ecf cancellations ends the uncertainty of a cancellation, with a note', async () => {
    const range = { encf_desde: 'E470000009001', encf_hasta: 'E470000009009' };
    const body = {
      issuer_rnc: ISSUER.rnc,
      authority_environment: 'TesteCF',
      detail_lines: [{ ecf_type: '47', sequence_ranges: [range] }],
    };
    await client.fault({ operation: 'anulacionrangos', kind: 'reset-after', times: 1 });
    const headers = { 'content-type': 'application/json' };
    const { body: made } = await client.call('POST', '/anecf/', { headers, body: JSON.stringify(body) });
    expect(made.authority_status).toBe('submitted');
    const doubtful = async (...more: string[]) =>
      (await ecf(deployment, 'cancellations', 'list', '--issuer', ISSUER.rnc, ...more)).rows.find(
        ({ id }) => id === made.id,
      );
    await until(doubtful, (row) => row?.alarm === 'cancellation-open');
    const settle = (...decision: string[]) => ecf(deployment, 'cancellations', 'settle', String(made.id), ...decision);
    for (const wrong of [['--accepted'], ['--accepted', '--rejected', '--note', 'x'], ['--note', 'x']])
      expect((await settle(...wrong)).code).toBe(2);
    expect((await settle('--refused', 'E470000009010', '--note', 'x')).stderr).toContain('not in the cancellation');
    const settled = await settle(
      '--refused',
      'E470000009001,E470000009003-E470000009009',
      '--note',
      'the portal says so',
    );
    expect(settled).toMatchObject({ code: 0, rows: [{ id: made.id, authority_status: 'Parcial', alarm: null }] });
    expect(await doubtful()).toBeUndefined();
    expect(await doubtful('--settled')).toMatchObject({ note: 'the portal says so' });
    expect((await client.call('GET', `/anecf/${made.id}`)).body.authority_status).toBe('Parcial');
    expect(await settle('--accepted', '--note', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('409'),
    });
  });
});
