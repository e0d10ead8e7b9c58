import { type AuthorityClient, authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import { createLogger, createMetrics, measureAuthorityCalls } from '@ecf/kit/telemetry';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { BUYER, encf, example, ISSUER } from './support/documents.js';
import { until } from './support/until.js';
import { type Instance, World } from './support/world.js';

const NOT_FOUND = {
  consultatrackids: { trackId: null, estado: 'TrackId no encontrado.', fechaRecepcion: null },
  consultaestado: { codigo: 0, estado: 'No encontrado' },
  consultarfce: { codigo: '0', estado: 'No encontrado', mensajes: [] },
};

/** The authority's tokens name the holder of the certificate that logged in. */
function holderOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return claims['http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name'];
}

describe('after an uncertain outcome,', () => {
  let world: World;
  let emission: Instance;
  let client: AuthorityClient;
  let authority: AuthorityClient;
  /** The certificate holder of the login before each submission of a full document. */
  const holders = new Map<string, string[]>();
  const metrics = createMetrics();
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    service: 'emission',
    level: 'error',
    destination: { write: (line) => void lines.push(JSON.parse(line)) },
  });

  beforeAll(async () => {
    world = await World.create({ settings: { STATUS_WAIT_MS: '0', AUTHORITY_TIMEOUT_MS: '800' } });
    client = createAuthorityClient({
      endpoints: authorityEndpoints(world.simulator.url),
      userAgent: 'test',
      timeouts: { responseMs: 800, totalMs: 5_800 },
      onCall: measureAuthorityCalls(metrics),
    });
    const submitDocument: typeof client.submitDocument = (input) => {
      holders.set(input.encf, [...(holders.get(input.encf) ?? []), holderOf(input.token)]);
      return client.submitDocument(input);
    };
    authority = { ...client, submitDocument };
    emission = await world.start({ metrics, logger, authority });
  });
  afterEach(() => world.clearFaults());
  afterAll(async () => {
    await world.stop();
    client.close();
  });

  /** The authority states that it does not know the document, although it does. */
  async function hide(...operations: (keyof typeof NOT_FOUND)[]): Promise<string[]> {
    return Promise.all(
      operations.map((operation) =>
        world.fault({ operation, kind: 'http', status: 200, body: JSON.stringify(NOT_FOUND[operation]) }),
      ),
    );
  }

  async function oneEffective(number: string, copies: number): Promise<void> {
    const ledger = await world.ledger(number);
    expect(ledger).toHaveLength(copies);
    expect(ledger.filter(({ effective }) => effective)).toHaveLength(1);
    expect(new Set(ledger.map(({ sha256 }) => sha256)).size).toBe(1);
  }

  it('when a resend is answered 1209, the first copy’s verdict is looked up and adopted', async () => {
    await world.fault({ operation: 'recepcion', kind: 'timeout-after', times: 1 });
    const hidden = await hide('consultatrackids', 'consultaestado');
    const { body } = await world.submit(emission, example('ecf-31', 1));
    expect(body).toMatchObject({ status: 'EnProceso', trackId: null });
    await world.reaches(encf('31', 1), ['arrived']);
    for (const id of hidden) await world.clearFaults(id);
    const row = await world.reaches(encf('31', 1), ['accepted']);
    await oneEffective(encf('31', 1), 2);
    const effective = (await world.ledger(encf('31', 1))).find((one) => one.effective);
    expect(row.track_id).toBe(effective?.track_id);
    expect(row.past).toMatchObject([{ attempt: 1, state: 'rejected-used', messages: [{ codigo: '1209' }] }]);
  });

  it('when a resend by an operator is answered 1209, the trackId that the authority did not know is adopted', async () => {
    const number = encf('31', 64);
    const unknown = { trackId: null, codigo: '0', estado: 'No encontrado', rnc: null, encf: null, mensajes: [] };
    const answer = { kind: 'http', status: 200, body: JSON.stringify(unknown) };
    const hidden = await world.fault({ operation: 'consultaresultado', ...answer });
    const { body } = await world.submit(emission, example('ecf-31', 64));
    await world.reaches(number, ['not-found']);
    const resolved = await world.call(emission, 'POST', '/internal/emissions/resolve', {
      identity: world.serviceIdentity(),
      body: JSON.stringify({ env: 'TesteCF', issuer_rnc: ISSUER, encf: number, action: 'resend' }),
      headers: { 'content-type': 'application/json' },
    });
    expect(resolved).toMatchObject({ status: 200, body: { resent: true } });
    await until(async () => (await world.ledger(number)).length === 2, 'the second copy');
    await world.reaches(number, ['not-found']);
    await world.clearFaults(hidden);
    const row = await world.reaches(number, ['accepted', 'rejected-used']);
    expect(row).toMatchObject({ state: 'accepted', track_id: body.trackId });
    expect(row.past).toMatchObject([{ state: 'rejected-used', messages: [{ codigo: '1209' }] }]);
    await oneEffective(number, 2);
  });

  it('when the resend of a summary is refused as used, the first copy’s verdict is looked up and adopted too', async () => {
    await world.fault({ operation: 'recepcionfc', kind: 'timeout-after', times: 1 });
    const [hidden] = await hide('consultarfce');
    const { body } = await world.submit(emission, example('ecf-32', 1));
    expect(body.status).toBe('EnProceso');
    await world.reaches(encf('32', 1), ['arrived']);
    expect((await world.submit(emission, example('ecf-32', 1))).body.status).toBe('EnProceso');
    await world.clearFaults(hidden);
    await world.reaches(encf('32', 1), ['accepted']);
    await oneEffective(encf('32', 1), 2);
  });

  it('an answer that is not a verdict never counts as "not found"', async () => {
    await world.fault({ operation: 'recepcion', kind: 'timeout-after', times: 1 });
    await world.fault({ operation: 'consultatrackids', kind: 'http', status: 404, body: '<html>no encontrado</html>' });
    await world.submit(emission, example('ecf-31', 2));
    while (Number((await world.row(encf('31', 2)))?.failures) < 3) await new Promise((done) => setTimeout(done, 25));
    expect(await world.row(encf('31', 2))).toMatchObject({ state: 'unknown', not_found_since: null });
    await world.clearFaults();
    await world.reaches(encf('31', 2), ['accepted']);
    await oneEffective(encf('31', 2), 1);
  });

  it('a result that names another document decides nothing about this one', async () => {
    const id = await world.fault({
      operation: 'consultaresultado',
      kind: 'http',
      status: 200,
      body: JSON.stringify({ codigo: '1', estado: 'Aceptado', rnc: '199999991', encf: encf('31', 1), mensajes: [] }),
    });
    const patient = await world.start({ metrics, logger, authority }, { STATUS_WAIT_MS: 1_000 });
    expect((await world.submit(patient, example('ecf-31', 15))).body.status).toBe('EnProceso');
    const ofThis = () => lines.filter((line) => line.encf === encf('31', 15));
    for (let looks = 0; looks < 2_400 && ofThis().length === 0; looks += 1) await new Promise((r) => setTimeout(r, 25));
    expect(ofThis()[0]).toMatchObject({
      msg: 'an answer about another document',
      detail: `the answer is about another document: eNCF "${encf('31', 1)}", not ${encf('31', 15)}`,
    });
    expect(await world.row(encf('31', 15))).toMatchObject({ state: 'processing' });
    expect(await metrics.render()).toMatch(/operation="queryResult".*outcome="unknown:another_document"/);
    await world.clearFaults(id);
    await world.reaches(encf('31', 15), ['accepted']);
  });

  const transient = (times?: number) =>
    world.fault({
      operation: 'recepcionfc',
      kind: 'http',
      ...(times === undefined ? {} : { times }),
      status: 200,
      body: JSON.stringify({
        codigo: 2,
        estado: 'Rechazado',
        mensajes: [{ codigo: '004', valor: 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.' }],
        encf: null,
        secuenciaUtilizada: false,
      }),
    });

  it('a summary answered with 004 is sent again by the service', async () => {
    await transient(2);
    const { body } = await world.submit(emission, example('ecf-32', 3));
    expect(body.status).toBe('EnProceso');
    await world.reaches(encf('32', 3), ['accepted']);
    await oneEffective(encf('32', 3), 1);
  });

  it('a summary answered with 004 is sent again within the wait of a caller', async () => {
    const patient = await world.start({ authority }, { STATUS_WAIT_MS: 3_000 });
    await transient(2);
    expect((await world.submit(patient, example('ecf-32', 4))).body.status).toBe('Aceptado');
  });

  it('a summary answered with 004 is sent a bounded number of times, then it is rejected and the number is free', async () => {
    const id = await transient();
    await world.submit(emission, example('ecf-32', 5));
    const row = await world.reaches(encf('32', 5), ['rejected-reusable']);
    expect(row.transient_refusals).toBe(5);
    await world.clearFaults(id);
    expect((await world.submit(emission, example('ecf-32', 5))).body).toMatchObject({
      status: 'Aceptado',
      sequence_used: true,
    });
  });

  describe('in CerteCF, which offers no query for a full document,', () => {
    const resolve = (number: string, body: unknown, identity = world.serviceIdentity()) =>
      world.call(emission, 'POST', '/internal/emissions/resolve', {
        identity,
        body: JSON.stringify({ env: 'CerteCF', issuer_rnc: '199999991', encf: number, ...(body as object) }),
        headers: { 'content-type': 'application/json' },
      });
    const reaches = async (number: string, check: (row: Record<string, unknown>) => boolean) => {
      for (let waited = 0; waited < 2_400; waited += 1) {
        const row = await world.row(number, 'CerteCF');
        if (row !== null && check(row)) return row;
        await new Promise((done) => setTimeout(done, 25));
      }
      throw new Error(`${number}: ${JSON.stringify(await world.row(number, 'CerteCF'))}`);
    };

    it('the document is not sent again, an alarm is raised, and an operator adopts the trackId', async () => {
      await world.fault({ operation: 'recepcion', kind: 'timeout-after', times: 1 });
      const { body } = await world.submit(emission, example('ecf-31', 6), { env: 'CerteCF' });
      expect(body.status).toBe('EnProceso');
      await reaches(encf('31', 6), ({ alarm }) => alarm === 'no-query');
      expect(await world.row(encf('31', 6), 'CerteCF')).toMatchObject({ state: 'unknown', owner: null });
      const [sent] = await world.ledger(encf('31', 6));
      expect((await resolve(encf('31', 6), { action: 'adopt', track_id: 'a\0b' })).status).toBe(422);
      const answer = await resolve(encf('31', 6), { action: 'adopt', track_id: sent?.track_id });
      expect(answer).toMatchObject({
        status: 200,
        body: { state: 'processing', track_id: sent?.track_id, status: 'EnProceso', adopted: true, resent: false },
      });
      await reaches(encf('31', 6), ({ state, alarm }) => state === 'accepted' && alarm === null);
      await oneEffective(encf('31', 6), 1);
    });

    it('an operator can have the same bytes sent again', async () => {
      await world.fault({ operation: 'recepcion', kind: 'timeout', times: 1 });
      await world.submit(emission, example('ecf-31', 7), { env: 'CerteCF' });
      await reaches(encf('31', 7), ({ alarm }) => alarm === 'no-query');
      const answer = await resolve(encf('31', 7), { action: 'resend' });
      expect(answer).toMatchObject({ status: 200, body: { adopted: false, resent: true } });
      await reaches(encf('31', 7), ({ state }) => state === 'accepted');
      expect((await world.ledger(encf('31', 7))).filter(({ effective }) => effective)).toHaveLength(1);
    });

    it('only the document’s own trackId is adopted, after a query to the authority', async () => {
      const other = await world.submit(emission, example('ecf-31', 17), { env: 'CerteCF' });
      await reaches(encf('31', 17), ({ state }) => state === 'accepted');
      await world.fault({ operation: 'recepcion', kind: 'reset', times: 1 });
      await world.submit(emission, example('ecf-31', 16), { env: 'CerteCF' });
      await reaches(encf('31', 16), ({ alarm }) => alarm === 'no-query');
      const before = await world.row(encf('31', 16), 'CerteCF');
      const adopt = (track_id: unknown) => resolve(encf('31', 16), { action: 'adopt', track_id });

      expect(await adopt('not a uuid!')).toMatchObject({ status: 422 });
      expect(await adopt(other.body.trackId)).toMatchObject({
        status: 409,
        body: {
          code: 'conflict',
          detail: expect.stringContaining(`does not belong to ${encf('31', 16)} of 199999991`),
        },
      });
      const unknown = '00000000-0000-4000-8000-000000000000';
      expect(await adopt(unknown)).toMatchObject({
        status: 409,
        body: { detail: expect.stringContaining(`has no submission under the trackId ${unknown}`) },
      });
      const silent = { trackId: unknown, codigo: '1', estado: 'Aceptado', rnc: null, encf: null, mensajes: [] };
      for (const [body, status, code] of [
        [JSON.stringify(silent), 409, 'conflict'],
        ['<html>', 502, 'authority_unreadable'],
        [null, 503, 'authority_unreachable'],
      ] as const) {
        const how = body === null ? { kind: 'reset' } : { kind: 'http', status: 200, body };
        const fault = await world.fault({ operation: 'consultaresultado', ...how });
        expect(await adopt(unknown)).toMatchObject({ status, body: { code } });
        await world.clearFaults(fault);
      }
      expect(await world.row(encf('31', 16), 'CerteCF')).toEqual(before);
      expect(await world.ledger(encf('31', 16))).toHaveLength(0);

      expect((await resolve(encf('31', 16), { action: 'resend' })).status).toBe(200);
      await reaches(encf('31', 16), ({ state }) => state === 'accepted');
      await oneEffective(encf('31', 16), 1);
    });

    it('a summary is looked up', async () => {
      await world.fault({ operation: 'recepcionfc', kind: 'reset-after', times: 1 });
      await world.submit(emission, example('ecf-32', 8), { env: 'CerteCF' });
      await reaches(encf('32', 8), ({ state }) => state === 'accepted');
      await oneEffective(encf('32', 8), 1);
    });

    it('documents that are decided, unknown or not waiting cannot be resolved', async () => {
      expect((await resolve(encf('31', 6), { action: 'resend' })).body.code).toBe('conflict');
      expect((await resolve(encf('31', 999), { action: 'resend' })).body.code).toBe('not_found');
      expect((await resolve(encf('31', 6), { action: 'x' })).status).toBe(422);
      expect((await resolve('E31', { action: 'resend' })).status).toBe(422);
      expect((await resolve(encf('31', 6), { action: 'resend' }, world.identity())).body.code).toBe('invalid_identity');
    });
  });

  describe('an unfinished document is sent with the present certificate', () => {
    const [first, second] = ['00100000017', '00900000009'];
    const store = (holder: string, expired = false) => world.register('199999991', world.issue(holder, { expired }));
    const sendersOf = (number: string) => [...new Set(holders.get(number))];
    afterEach(() => world.register('199999991', world.certificate));

    it('if a caller brings a token', async () => {
      const token = await world.token(emission);
      const { body } = await world.submit(emission, example('ecf-31', 18), { env: 'CerteCF' });
      holders.delete(encf('31', 18));
      store(second);
      await world.fault({ operation: 'recepcion', kind: 'down', times: 1 });
      expect((await world.submitSigned(emission, '/submit_ecf', body.xml, token)).status).toBe(408);
      await world.reaches(encf('31', 18), ['accepted']);
      expect(sendersOf(encf('31', 18))).toEqual([first, second]);
    });

    it('after the certificate was replaced', async () => {
      const away = await world.fault({ operation: 'recepcion', kind: 'down' });
      await world.submit(emission, example('ecf-31', 9));
      store(second);
      // The next query sees the change.
      await world.submit(emission, example('ecf-31', 10));
      await world.clearFaults(away);
      await world.reaches(encf('31', 9), ['accepted']);
      expect(sendersOf(encf('31', 9))).toEqual([first, second]);
    });

    it('after it expired, but only when there is a valid one, and an alarm is raised', async () => {
      const away = await world.fault({ operation: 'recepcion', kind: 'down' });
      await world.submit(emission, example('ecf-31', 19));
      store(first, true);
      expect((await world.submit(emission, example('ecf-31', 20))).body.code).toBe('certificate_expired');
      await world.clearFaults(away);
      for (let looks = 0; looks < 2_400; looks += 1) {
        if ((await world.row(encf('31', 19)))?.alarm === 'no-certificate') break;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      expect(await world.row(encf('31', 19))).toMatchObject({ alarm: 'no-certificate' });
      store(second);
      expect((await world.submit(emission, example('ecf-31', 20))).status).toBe(200);
      await world.reaches(encf('31', 19), ['accepted']);
      expect(sendersOf(encf('31', 19))).toEqual([first, second]);
    });
  });

  it('a taxpayer that the authority limits waits alone, and the answer says until when', async () => {
    const limited = { kind: 'http', status: 429, body: 'later', headers: { 'retry-after': '2' }, times: 1 };
    await world.fault({ operation: 'recepcion', ...limited });
    const { status, body } = await world.submit(emission, example('ecf-31', 60));
    expect([status, body.status]).toEqual([200, 'EnProceso']);
    const entry = { codigo: 'gateway', valor: expect.stringMatching(/status 429.*the next try is at 20\d\d-.*-04:00/) };
    expect(body.messages).toEqual([entry]);
    const other = example('ecf-31', 61, ({ Encabezado: { Emisor, Comprador } }) => {
      [Emisor.RNCEmisor, Comprador.RNCComprador] = [BUYER, ISSUER];
    });
    await world.submit(emission, other);
    await world.reaches(encf('31', 61), ['accepted']);
    const { verdict } = await world.reaches(encf('31', 60), ['accepted']);
    expect(verdict).toMatchObject({ messages: [] });
  });

  it('a login that the authority limits is answered 503 with its Retry-After, and other taxpayers log in', async () => {
    const fresh = world.issue('00300000005');
    const limited = { kind: 'http', status: 429, body: 'later', headers: { 'retry-after': '40' }, times: 1 };
    const id = await world.fault({ operation: 'autenticacion', ...limited });
    for (const left of [40, 39]) {
      const { status, body, headers } = await world.submit(emission, example('ecf-31', 62), { certificate: fresh });
      expect([status, body.code]).toEqual([503, 'authority_unreachable']);
      expect(body.detail).toContain('limits the logins of this taxpayer at present (status 429)');
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(left - 30);
    }
    await world.clearFaults(id);
    world.register(BUYER, world.issue('00400000003'));
    expect((await world.call(emission, 'GET', '/obtain_token', { headers: { 'rnc-issuing': BUYER } })).status).toBe(
      200,
    );
    expect(await world.row(encf('31', 62))).toBeNull();
  });

  it('each of many documents at several instances ends accepted and takes effect once with an unreliable authority', async () => {
    const instances = [emission, await world.start(), await world.start()];
    for (const operation of ['recepcion', 'recepcionfc', 'consultatrackids', 'consultarfce', 'consultaresultado']) {
      for (const kind of ['reset', 'reset-after', 'http']) {
        await world.fault({ operation, kind, rate: 0.12, ...(kind === 'http' ? { status: 502, body: '<html>' } : {}) });
      }
    }
    const numbers = Array.from({ length: 24 }, (_, index) => ({
      name: index % 3 === 0 ? 'ecf-32' : 'ecf-31',
      sequence: 100 + index,
    }));
    const submit = ({ name, sequence }: { name: string; sequence: number }, index: number) =>
      world.submit(instances[index % 3] as Instance, example(name, sequence));
    const answers = await Promise.all(numbers.map(submit));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await world.clearFaults();
    for (const [index, document] of numbers.entries()) {
      const { name, sequence } = document;
      // A caller repeats a document that was not stored because the login took too long.
      if (answers[index]?.status === 503) await submit(document, index);
      const number = encf(name === 'ecf-32' ? '32' : '31', sequence);
      await world.reaches(number, ['accepted']);
      expect((await world.ledger(number)).filter(({ effective }) => effective)).toHaveLength(1);
    }
  });
});
