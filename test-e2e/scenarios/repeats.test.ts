import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Answer, Client, LedgerRow } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { ecfSubmit } from '../support/deployment/ecf-command.js';
import { type Invoice, Numbering, otherContent, withLines } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment({
  FIRST_RETRY_MS: '100',
  FIRST_QUERY_MS: '100',
  BACKGROUND_IDLE_MS: '250',
  // Strangers' documents are refused; submissions are not affected.
  MIN_FREE_BYTES: String(Number.MAX_SAFE_INTEGER),
});
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const client = (): Client => deployment.demo;

const REUSABLE = { codigo: 2, estado: 'Rechazado', mensajes: ['Firma inválida'], secuenciaUtilizada: false };
const SPENT = {
  codigo: 2,
  mensajes: [{ codigo: 1381, valor: 'RNCComprador es obligatorio' }],
  secuenciaUtilizada: true,
};

/** Expects one submission, an effective one. */
async function onlySubmission(encf: string): Promise<LedgerRow> {
  const rows = await client().ledger(encf);
  expect(rows).toHaveLength(1);
  expect(rows[0]?.effective).toBe(true);
  return rows[0] as LedgerRow;
}

it('customers submit while the storage is too full for strangers’ documents', async () => {
  const seed = await fetch(`${deployment.running.demo.base_url}/fe/autenticacion/api/semilla`);
  expect([seed.status, (await seed.json()).code]).toEqual([503, 'storage_full']);
  expect((await client().submit(numbers.next().invoice)).body).toMatchObject({ status: 'Aceptado' });
});

describe.each(['ecf-31', 'ecf-32'])('the same document again (%s)', (example) => {
  const operation = example === 'ecf-31' ? 'recepcion' : 'recepcionfc';
  const text = (answer: Answer) => ({ status: answer.status, body: answer.body });

  it('gets the stored answer for every JSON form of it, and is not sent', async () => {
    const { invoice, encf } = numbers.next(example);
    const first = await client().submit(invoice);
    expect(first.body).toMatchObject({ status: 'Aceptado', encf, sequence_used: true });
    const reversed = (value: Invoice): Invoice =>
      typeof value !== 'object' || Array.isArray(value)
        ? Array.isArray(value)
          ? value.map(reversed)
          : value
        : Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, child]) => [key, reversed(child)]),
          );
    const padded = structuredClone(invoice);
    padded.ECF.Encabezado.IdDoc.TotalPaginas = '';
    padded.ECF.Encabezado.OtraMoneda = { TipoMoneda: null };
    const numeric = JSON.stringify(invoice).replace(/"MontoTotal":"([\d.]+)"/, '"MontoTotal":$1');
    for (const again of [invoice, JSON.stringify(invoice, null, 4), reversed(invoice), padded, numeric])
      expect(text(await client().submit(again))).toEqual(text(first));
    const row = await onlySubmission(encf);
    if (example === 'ecf-31') expect(row.track_id).toBe(first.body.trackId);
    expect(await client().submittedXml(row)).toBe(example === 'ecf-31' ? first.body.xml : first.body.rfce_xml);
  });

  it('fifty times at the same moment is one submission and fifty equal answers', async () => {
    const { invoice, encf } = numbers.next(example);
    const answers = await Promise.all(Array.from({ length: 50 }, () => client().submit(invoice)));
    expect(answers[0]?.body.status).toBe('Aceptado');
    for (const answer of answers) expect(text(answer)).toEqual(text(answers[0] as Answer));
    await onlySubmission(encf);
  });

  it('with other content is 409, also in a dry run and concurrently', async () => {
    const { invoice, encf } = numbers.next(example);
    const versions = Array.from({ length: 20 }, (_, index) => {
      const version = structuredClone(invoice);
      version.ECF.DetallesItems.Item[0].NombreItem = `Versión ${index}`;
      return version;
    });
    const answers = await Promise.all(versions.map((version) => client().submit(version)));
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expect(answer).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
    const dry = await client().submit(invoice, {}, '?validate=true');
    expect(dry).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
    const winner = versions[answers.indexOf(taken[0] as Answer)];
    expect(text(await client().submit(winner))).toEqual(text(taken[0] as Answer));
    await onlySubmission(encf);
  });

  it('after a rejection that left the number free is a new attempt; other content may follow too', async () => {
    for (const change of [(same: Invoice) => same, otherContent]) {
      const { invoice, encf } = numbers.next(example);
      await client().fault({ operation, kind: 'verdict', times: 1, verdict: REUSABLE });
      const first = await client().submit(invoice);
      expect(first.body).toMatchObject({
        status: 'Rechazado',
        sequence_used: false,
        messages: [{ codigo: expect.any(String), valor: 'Firma inválida' }],
      });
      const second = await client().submit(change(invoice));
      expect(second.body).toMatchObject({ status: 'Aceptado', sequence_used: true, messages: [] });
      if (example === 'ecf-31') expect(second.body.trackId).not.toBe(first.body.trackId);
      const rows = await client().ledger(encf);
      expect(rows.map(({ effective }) => effective)).toEqual([false, true]);
      expect(text(await client().submit(change(invoice)))).toEqual(text(second));
    }
  });

  it('after a rejection that spent the number is the stored rejection; other content is 409', async () => {
    for (const verdict of [
      SPENT,
      { ...REUSABLE, mensajes: [{ codigo: 1209, valor: 'Este número de secuencia ya ha sido utilizado.' }] },
    ]) {
      const { invoice, encf } = numbers.next(example);
      await client().fault({ operation, kind: 'verdict', times: 1, verdict });
      const first = await client().submit(invoice);
      expect(first.body).toMatchObject({ status: 'Rechazado', sequence_used: true });
      expect(first.body.messages).toHaveLength(1);
      expect(text(await client().submit(invoice))).toEqual(text(first));
      const other = await client().submit(otherContent(invoice));
      expect(other).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
      expect(await client().ledger(encf)).toHaveLength(1);
    }
  });

  it('that was accepted conditionally says so, with the authority’s messages', async () => {
    const { invoice } = numbers.next(example);
    const mensajes = [{ codigo: 11105, valor: 'MontoTotal no es válido' }];
    await client().fault({ operation, kind: 'verdict', times: 1, verdict: { codigo: 4, mensajes } });
    const answer = await client().submit(invoice);
    expect(answer.body).toMatchObject({
      status: 'AceptadoCondicional',
      sequence_used: true,
      messages: [{ codigo: '11105', valor: 'MontoTotal no es válido' }],
    });
    expect(text(await client().submit(invoice))).toEqual(text(answer));
  });
});

/** The document with another signing time and its first amount written differently. */
function rewritten(invoice: Invoice, second: number): Invoice {
  const text = JSON.stringify(invoice).replace(/"(\d+)\.00"/, '"$1.0"');
  const again = JSON.parse(text);
  again.ECF.FechaHoraFirma = `26-11-2026 10:00:${String(second).padStart(2, '0')}`;
  return again;
}

describe('the same sale with another FechaHoraFirma and other spellings of its amounts', () => {
  it.each(['ecf-31', 'ecf-32'])(
    'is a repeat: by number, by key, at the same moment and in a batch (%s)',
    async (example) => {
      const { invoice, encf } = numbers.next(example);
      const key = { 'idempotency-key': `sale-${encf}` };
      const first = await client().submit(rewritten(invoice, 0), key);
      expect(first.body).toMatchObject({ status: 'Aceptado', encf });
      const answers = await Promise.all([
        client().submit(invoice),
        client().submit(invoice, key),
        ...Array.from({ length: 8 }, (_, second) =>
          client().submit(rewritten(invoice, second + 1), second % 2 ? key : {}),
        ),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: first.body });
      const batch = await client().call('POST', '/batches', {
        headers: { 'content-type': 'application/x-ndjson' },
        body: [20, 21].map((second) => `${JSON.stringify(rewritten(invoice, second))}\n`).join(''),
      });
      const { results } = await until(
        async () => (await client().call('GET', `/batches/${batch.body.batch_id}/results`)).body,
        (page) =>
          page.results?.length === 2 && page.results.every((line: Answer['body']) => line.status === 'Aceptado'),
      );
      expect(results.map((line: Answer['body']) => line.security_code)).toEqual(
        [0, 1].map(() => first.body.security_code),
      );
      await onlySubmission(encf);
    },
  );

  it('with another amount, number or key is a conflict that names what differs', async () => {
    const { invoice, encf } = numbers.next();
    const key = { 'idempotency-key': `sale-${encf}` };
    await client().submit(invoice, key);
    const other = await client().submit(otherContent(rewritten(invoice, 1)));
    expect(other).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
    expect(other.body.message).toMatch(
      new RegExp(
        `^The document stored as ${encf} in TesteCF is safe: it is accepted \\(Aceptado\\).*ECF\\..* is ".*" in the stored`,
      ),
    );
    const next = numbers.next();
    const renumbered = structuredClone(invoice);
    renumbered.ECF.Encabezado.IdDoc.eNCF = next.encf;
    const conflict = await client().submit(renumbered, key);
    expect(conflict).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    expect(conflict.body.message).toContain(`eNCF is "${encf}" in the stored document and "${next.encf}" in this one`);
    expect(await client().ledger(next.encf)).toEqual([]);
  });

  it('is what /document returns, and sent again as it is, it is a repeat', async () => {
    const { invoice, encf } = numbers.next();
    const first = await client().submit(invoice);
    const headers = { 'rnc-issuing': '199999991' };
    const { body } = await client().call('GET', `/invoices/${encf}/document`, { headers });
    expect(body.ECF.FechaHoraFirma).toMatch(/^\d\d-\d\d-\d{4} [\d:]{8}$/);
    expect((await client().submit(body)).body).toEqual(first.body);
    await onlySubmission(encf);
  });

  it('whose summary was rejected may be sent again within the same second, and is signed with a later one', async () => {
    const { invoice, encf } = numbers.next('ecf-32');
    await client().fault({ operation: 'recepcionfc', kind: 'verdict', times: 2, verdict: REUSABLE });
    const stated = rewritten(invoice, 0);
    const statuses = [];
    for (let times = 0; times < 3; times += 1) statuses.push((await client().submit(stated)).body.status);
    expect(statuses).toEqual(['Rechazado', 'Rechazado', 'Aceptado']);
    expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual([false, false, true]);
  });
});

describe('a document that waits because the authority did not answer', () => {
  it('says so in the answer, in the listing, under its trackIds and in its status, until it is decided', async () => {
    const headers = { 'rnc-issuing': '199999991' };
    const waits = [{ codigo: 'gateway', valor: expect.stringContaining('the next try is at ') }];
    const { invoice, encf } = numbers.next();
    const end = await client().fault({ operation: 'consultaresultado', kind: 'http', status: 200, body: '{}' });
    const { body } = await client().submit(invoice);
    expect(body.status).toBe('EnProceso');
    const shown = (route: string) => async () => (await client().call('GET', route, { headers })).body;
    const says = (one: Answer['body']) => one?.messages?.[0]?.codigo === 'gateway';
    const listed = await until(shown(`/invoices/${encf}`), says);
    expect(listed).toMatchObject({ status: 'EnProceso', messages: waits });
    const { track_ids } = await shown(`/trackids/${encf}`)();
    expect(track_ids).toMatchObject([{ track_id: body.trackId, messages: waits }]);
    expect(await shown(`/invoice-status/${body.trackId}`)()).toMatchObject({ status: 'EnProceso', messages: waits });
    expect((await client().submit(invoice)).body).toMatchObject({ status: 'EnProceso', messages: waits });
    await end();
    const decided = await until(shown(`/invoices/${encf}`), ({ status }) => status === 'Aceptado');
    expect(decided.messages).toEqual([]);
    expect(await shown(`/invoice-status/${body.trackId}`)()).toMatchObject({ status: 'Aceptado', messages: [] });
  });
});

describe('an answer', () => {
  it('has the fields of a full document, or those of a summary', async () => {
    const common = {
      status: 'Aceptado',
      messages: [],
      qr_url: expect.stringMatching(/^https:\/\//),
      security_code: expect.stringMatching(/^[A-Za-z0-9+/]{6}$/),
      signature_datetime: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      sequence_used: true,
      warnings: [],
      xml: expect.stringMatching(/^<\?xml .*<ECF .*<\/Signature><\/ECF>$/s),
    };
    const full = numbers.next('ecf-31');
    expect((await client().submit(full.invoice)).body).toEqual({
      ...common,
      encf: full.encf,
      trackId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const small = numbers.next('ecf-32');
    const { body } = await client().submit(small.invoice);
    expect(body).toEqual({
      ...common,
      encf: small.encf,
      qr_url: expect.stringMatching(/^https:\/\/fc\.dgii\.gov\.do\/testecf\/consultatimbrefc\?/i),
      rfce_xml: expect.stringMatching(/^<\?xml .*<RFCE .*<\/Signature><\/RFCE>$/s),
    });
    expect(body.rfce_xml).toContain(`<CodigoSeguridadeCF>${body.security_code}<`);
    const signed = /<SignatureValue>([^<]+)</.exec(body.xml)?.[1] as string;
    expect(signed.slice(0, 6)).toBe(body.security_code);
    const large = numbers.next('ecf-32-large');
    expect((await client().submit(large.invoice)).body).toMatchObject({ trackId: expect.any(String) });
  });

  it('decides the route of a type 32 by 250,000.00 alone', async () => {
    for (const [total, operation] of [
      ['249999.99', 'recepcionfc'],
      ['250000.00', 'recepcion'],
    ] as const) {
      const { invoice, encf } = numbers.next('ecf-32', (ecf) => {
        const [item] = withLines({ ECF: ecf }, 1).ECF.DetallesItems.Item;
        ecf.Encabezado = withLines({ ECF: ecf }, 1).ECF.Encabezado;
        ecf.Encabezado.Totales = { MontoExento: total, MontoTotal: total };
        ecf.Encabezado.IdDoc.TablaFormasPago.FormaDePago[0].MontoPago = total;
        ecf.Encabezado.Comprador = { RNCComprador: '188888885', RazonSocialComprador: 'Taller Caoba Imaginario, SRL' };
        ecf.DetallesItems.Item = [{ ...item, PrecioUnitarioItem: `${total}00`, MontoItem: total }];
      });
      const { body } = await client().submit(invoice);
      expect(body).toMatchObject({ status: 'Aceptado', warnings: [] });
      expect('trackId' in body).toBe(operation === 'recepcion');
      expect((await onlySubmission(encf)).operation).toBe(operation);
    }
  });

  it('waits for the verdict within its budget', async () => {
    const { invoice } = numbers.next();
    const end = await client().fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    const first = client().submit(invoice);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await end();
    expect((await first).body).toMatchObject({ status: 'Aceptado' });
  });

  it('warns of grounds for conditional acceptance, and does not block', async () => {
    const { invoice } = numbers.next('ecf-31', (ecf) => {
      ecf.Encabezado.Emisor.RNCEmisor = '199999991';
      ecf.Encabezado.Comprador.RNCComprador = '188888881';
    });
    const { body } = await client().submit(invoice);
    expect(body.status).toMatch(/^Aceptado/);
    expect(body.warnings).toEqual([
      {
        path: 'ECF.Encabezado.Comprador.RNCComprador',
        rule: expect.stringMatching(/^business\./),
        severity: 'warning',
        code: expect.anything(),
        message: expect.any(String),
        source: expect.any(String),
      },
    ]);
    expect((await client().submit(invoice)).body.warnings).toEqual(body.warnings);
  });
});

describe('a dry run', () => {
  it.each(['ecf-31', 'ecf-32', 'ecf-41'])('answers Validado and leaves nothing (%s)', async (example) => {
    const { invoice, encf } = numbers.next(example);
    const dry = await client().submit(invoice, {}, '?validate=true');
    expect(dry).toMatchObject({
      status: 200,
      body: { status: 'Validado', encf, messages: [], warnings: expect.any(Array), qr_url: null, security_code: null },
    });
    expect(dry.body.xml).not.toContain('Signature');
    expect(await client().ledger(encf)).toEqual([]);
    const other = await client().submit(otherContent(invoice));
    expect(other.body).toMatchObject({ status: 'Aceptado', encf });
    const again = await client().submit(otherContent(invoice), {}, '?validate=true');
    expect(again.body).toMatchObject({ status: 'Validado' });
    await onlySubmission(encf);
  });

  it('finds the same errors', async () => {
    const { invoice } = numbers.next('ecf-31', (ecf) => {
      ecf.Encabezado.Totales.MontoTotal = 'mucho';
    });
    const [wet, dry] = [await client().submit(invoice), await client().submit(invoice, {}, '?validate=true')];
    expect(wet.status).toBe(400);
    expect({ ...dry.body, request_id: '' }).toEqual({ ...wet.body, request_id: '' });
    const unknown = await client().submit(invoice, {}, '?validate=quizás');
    expect(unknown).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', 'validate'] }] } });
  });
});

describe('a number that is submitted and cancelled at the same moment', () => {
  it('is issued or cancelled, never both; the second request is refused, also when repeated', async () => {
    const cancel = (encf: string) =>
      client().call('POST', '/anecf/', {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          issuer_rnc: '199999991',
          authority_environment: 'TesteCF',
          detail_lines: [{ ecf_type: '31', sequence_ranges: [{ encf_desde: encf, encf_hasta: encf }] }],
        }),
      });
    const documents = Array.from({ length: 8 }, () => numbers.next());
    const outcomes = await Promise.all(
      documents.map(async ({ invoice, encf }, index) => {
        const cancelling = index % 2 === 0 ? cancel(encf) : null;
        const submitting = client().submit(invoice);
        return { invoice, encf, cancelled: await (cancelling ?? cancel(encf)), submitted: await submitting };
      }),
    );
    for (const { invoice, encf, cancelled, submitted } of outcomes) {
      const annulled = submitted.status === 409;
      const expected = annulled ? [409, 'encf_cancelled', 201, 'Aceptado'] : [200, 'Aceptado', 409, 'encf_in_use'];
      const said = annulled ? submitted.body.code : submitted.body.status;
      const also = annulled ? cancelled.body.authority_status : cancelled.body.code;
      expect([encf, submitted.status, said, cancelled.status, also]).toEqual([encf, ...expected]);
      expect((await client().ledger(encf)).map(({ effective }) => effective)).toEqual(annulled ? [] : [true]);
      expect((await client().submit(invoice)).status).toBe(annulled ? 409 : 200);
      expect((await cancel(encf)).status).toBe(409);
    }
  });
});

describe('ecf submit', () => {
  it('continues after it was killed: every document is sent once, and the results are complete', async () => {
    const documents = Array.from({ length: 5 }, () => numbers.next());
    const lines = documents.map(({ invoice }) => JSON.stringify(invoice));
    const file = path.join(deployment.dataDir, 'invoices.ndjson');
    writeFileSync(file, [...lines.slice(0, 3), '', '{"torn', ...lines.slice(3)].join('\n'));
    const args = [file, '--env', 'TesteCF', '--batch-size', '2'];
    const killed = await ecfSubmit(deployment, args, 2);
    expect([killed.code, killed.rows.length < 6]).toEqual([null, true]);
    const whole = await ecfSubmit(deployment, args);
    expect([whole.code, whole.rows.map(({ line }) => line)]).toEqual([1, [1, 2, 3, 4, 5, 6]]);
    const [torn] = whole.rows.splice(3, 1);
    expect(torn).toMatchObject({ status: null, error: { status: 400 } });
    expect(whole.rows.map(({ encf, status }) => [encf, status])).toEqual(
      documents.map(({ encf }) => [encf, 'Aceptado']),
    );
    for (const { encf } of documents) await onlySubmission(encf);
    expect((await ecfSubmit(deployment, [...args.slice(0, 3), '--batch-size', '0'])).code).toBe(2);
  });
});

describe('the metrics', () => {
  it('count the submissions by the two digits of their type', async () => {
    // The page lacks a process that is too busy to answer in time.
    const counted = ['31', '32'].map(
      (type) => new RegExp(`^ecf_submissions_total\\{[^}]*ecf_type="${type}"[^}]*\\} [1-9]`, 'm'),
    );
    const metrics = await until(deployment.metrics, (text) => counted.every((row) => row.test(text)));
    expect(metrics).toMatch(/^ecf_decisions_total\{[^}]*status="Rechazado"[^}]*\} [1-9]/m);
  });
});
