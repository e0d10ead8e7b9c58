import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import { ApiError } from '@ecf/kit';
import { createLogger } from '@ecf/kit/telemetry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ISSUER, invoiceChanged, verdict } from './support/samples.js';
import { decided, type Instance, inProcess, type ResultAnswer, unanswered, until, World } from './support/world.js';

describe('GET /invoice-status', () => {
  let world: World;
  let instance: Instance;
  const answers = (trackId: string, ...script: ResultAnswer[]) => world.authority.script.set(trackId, script);

  beforeAll(async () => {
    // The background does not poll, so only callers cause queries.
    world = await World.create({ FIRST_QUERY_MS: '600000', STATUS_BUDGET_MS: '200' });
    instance = await world.start();
  });
  beforeEach(() => {
    world.emission.tokenError = null;
  });
  afterAll(() => world.stop());

  it('queries the authority for an open submission, publishes the change, and reads a decided one from the store', async () => {
    const trackId = await world.submitted();
    answers(trackId, inProcess(), decided(verdict({ trackId })));
    expect((await world.status(instance, trackId)).body).toEqual({
      track_id: trackId,
      encf: expect.stringMatching(/^E\d{12}$/),
      status: 'EnProceso',
      code: '3',
      rnc: ISSUER,
      date_received: '2026-03-02T08:00:01-04:00',
      messages: [],
    });
    for (let i = 0; i < 3; i += 1) {
      const { status, body, headers } = await world.status(instance, trackId);
      expect({ status, word: body.status, code: body.code }).toEqual({ status: 200, word: 'Aceptado', code: '1' });
      expect([headers.get('cache-control'), headers.has('etag')]).toEqual(['private, no-cache', true]);
    }
    expect(world.authority.queriesOf(trackId)).toBe(2);
    await until(() => world.changesOf(trackId).length === 2);
    expect(world.changesOf(trackId)).toEqual(['EnProceso', 'Aceptado']);
    expect(await world.poll(trackId)).toBeNull();
  });

  it('returns a decision of emission without a query', async () => {
    const change = { state: 'accepted', status: 'Aceptado', code: '1', final: true } as const;
    const trackId = await world.submitted(change);
    expect((await world.status(instance, trackId)).body).toMatchObject({ status: 'Aceptado', code: '1' });
    expect(world.authority.queriesOf(trackId)).toBe(0);
  });

  it('queries once for concurrent callers', async () => {
    const trackId = await world.submitted();
    const before = world.authority.answer;
    world.authority.answer = async (id) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return before(id);
    };
    const all = await Promise.all(Array.from({ length: 10 }, () => world.status(instance, trackId)));
    world.authority.answer = before;
    expect(all.map(({ body }) => body.status)).toEqual(Array(10).fill('Aceptado'));
    expect(world.authority.queriesOf(trackId)).toBe(1);
  });

  it('finds a submission before its event, and keeps it', async () => {
    const trackId = randomUUID();
    world.emission.invoices.push(invoiceChanged({ track_id: trackId, encf: 'E310000055555' }));
    expect((await world.status(instance, trackId)).body).toMatchObject({
      track_id: trackId,
      status: 'Aceptado',
      code: expect.any(String),
      date_received: expect.any(String),
    });
    expect((await world.status(instance, trackId, { account: 'account-2' })).status).toBe(404);
    expect((await world.status(instance, trackId, { env: 'eCF' })).status).toBe(404);
  });

  it('is 404 for an unknown trackId, and for one of another account or environment', async () => {
    const trackId = await world.submitted();
    for (const [id, who] of [
      [randomUUID(), {}],
      ["' OR 1=1 --".replaceAll(' ', '+'), {}],
      [trackId, { account: 'account-2' }],
      [trackId, { env: 'CerteCF' }],
    ] as const) {
      const { status, body } = await world.status(instance, id, who);
      expect({ status, code: body.code }).toEqual({ status: 404, code: 'not_found' });
    }
    expect(world.authority.queriesOf(trackId)).toBe(0);
  });

  it('is 422 for a malformed trackId', async () => {
    for (const id of ['a b', '\u00e1', 'x'.repeat(101), '\u0000']) {
      const { status, body } = await world.status(instance, id);
      expect({ status, loc: body.detail[0].loc }).toEqual({ status: 422, loc: ['path', 'track_id'] });
    }
  });

  it('is 200 with No encontrado for a known trackId that the authority does not know', async () => {
    const trackId = await world.submitted();
    answers(trackId, decided(verdict({ status: 'No encontrado', code: '0', dateReceived: null, rnc: null })));
    const { status, body } = await world.status(instance, trackId);
    const date_received = expect.stringMatching(/-04:00$/);
    const expected = { status: 'No encontrado', code: '0', rnc: ISSUER, date_received };
    expect({ status, body }).toMatchObject({ status: 200, body: expected });
    expect(await world.poll(trackId)).toMatchObject({ claim: null });
  });

  it('returns the last known state within the time budget while the authority does not answer', async () => {
    // No token is kept for this taxpayer.
    const trackId = await world.submitted({ issuer_rnc: '131000901' });
    world.emission.tokenError = new ApiError(503, 'authority_unreachable', 'the login cannot be reached');
    expect(await world.status(instance, trackId)).toMatchObject({ status: 200, body: { status: 'EnProceso' } });
    world.emission.tokenError = new ApiError(503, 'certificate_missing', 'no certificate');
    expect(await world.status(instance, trackId)).toMatchObject({ status: 200, body: { status: 'EnProceso' } });
    world.emission.tokenError = null;
    const token = world.emission.documentToken;
    Object.assign(world.emission, { documentToken: () => new Promise(() => undefined) });
    expect(await world.status(instance, trackId)).toMatchObject({ status: 200, body: { status: 'EnProceso' } });
    Object.assign(world.emission, { documentToken: token });
    answers(trackId, unanswered());
    expect(await world.status(instance, trackId)).toMatchObject({ status: 200, body: { status: 'EnProceso' } });
  });

  it('is 401 when the authority refuses the login, or a fresh token', async () => {
    const trackId = await world.submitted({ issuer_rnc: '131000902' });
    world.emission.tokenError = new ApiError(401, 'login_refused', 'sin delegación');
    expect(await world.status(instance, trackId)).toMatchObject({
      status: 401,
      body: { code: 'login_refused', detail: expect.stringContaining('sin delegación') },
    });
    world.emission.tokenError = null;
    answers(trackId, { outcome: 'unauthorized', raw: null });
    expect(await world.status(instance, trackId)).toMatchObject({ status: 401, body: { code: 'login_refused' } });
  });

  it('ignores the verdict of an answer about another document', async () => {
    const encf = 'E310000033333';
    let named = 'E310000033334';
    const authority = createServer((_, res) => {
      const value = { codigo: '1', estado: 'Aceptado', rnc: ISSUER, encf: named, mensajes: [] };
      res.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    });
    await new Promise<void>((listening) => authority.listen(0, '127.0.0.1', listening));
    const { port } = authority.address() as AddressInfo;
    const client = createAuthorityClient({
      endpoints: authorityEndpoints(`http://127.0.0.1:${port}`),
      userAgent: 'test',
    });
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const logger = createLogger({ service: 'status-poller', level: 'error', destination });
    const alone = await World.create({ STATUS_BUDGET_MS: '2000' });
    const instance = await alone.start({ authority: client, logger });
    try {
      const trackId = await alone.submitted({ encf });
      await until(async () => Number((await alone.poll(trackId))?.failures) > 0, 'the background query failed');
      expect(await alone.poll(trackId)).toMatchObject({ tries: 0 });
      expect((await alone.status(instance, trackId)).body).toMatchObject({ status: 'EnProceso', code: '3' });
      expect(await instance.metrics.render()).toMatch(/ecf_status_queries_total.*outcome="another_document"} [1-9]/);
      expect(lines[0]).toMatchObject({
        ...{ msg: 'an answer about another document', env: 'TesteCF', issuer_rnc: ISSUER, encf, track_id: trackId },
        detail: expect.stringContaining('E310000033334'),
      });
      expect(alone.changesOf(trackId)).toEqual([]);
      named = encf;
      expect((await alone.status(instance, trackId)).body).toMatchObject({ status: 'Aceptado' });
    } finally {
      await alone.stop();
      client.close();
      authority.close();
    }
  });

  it('respects a pause that the authority requested', async () => {
    const trackId = await world.submitted({ env: 'CerteCF' });
    answers(trackId, unanswered({ cause: 'rate_limited', retryAfterMs: 60_000 }), decided(verdict()));
    for (let i = 0; i < 3; i += 1) {
      const { status, body } = await world.status(instance, trackId, { env: 'CerteCF' });
      expect({ status, word: body.status }).toEqual({ status: 200, word: 'EnProceso' });
    }
    expect(world.authority.queriesOf(trackId)).toBe(1);
  });

  it('says that the authority did not answer and when the next try is, until the authority answers', async () => {
    const trackId = await world.submitted({ env: 'eCF' });
    answers(trackId, unanswered(), decided(verdict()));
    const { body } = await world.status(instance, trackId, { env: 'eCF' });
    expect(body).toMatchObject({
      status: 'EnProceso',
      messages: [
        { codigo: 'gateway', valor: expect.stringMatching(/^No answer of the authority.*the next try is at 20/) },
      ],
    });
    expect((await world.status(instance, trackId, { env: 'eCF' })).body).toMatchObject({
      status: 'Aceptado',
      messages: [],
    });
  });

  it('says until when the authority limits the queries of the taxpayer', async () => {
    const trackId = await world.submitted({ env: 'eCF' });
    answers(
      trackId,
      unanswered({ cause: 'rate_limited', retryAfterMs: 60_000, limit: 'taxpayer' }),
      decided(verdict()),
    );
    const { body } = await world.status(instance, trackId, { env: 'eCF' });
    expect(body).toMatchObject({
      status: 'EnProceso',
      messages: [
        { codigo: 'gateway', valor: expect.stringMatching(/the calls of this taxpayer.*the next try is at 20/) },
      ],
    });
    expect((await world.status(instance, trackId, { env: 'eCF' })).body).toMatchObject({ status: 'Aceptado' });
  });

  it('answers only calls with the gateway’s identity', async () => {
    expect((await fetch(`${instance.url}/invoice-status/${randomUUID()}`)).status).toBe(401);
  });
});
