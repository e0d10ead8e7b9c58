import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Client, newAccount } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment({ STATUS_WAIT_MS: '0', FIRST_QUERY_MS: '200', STATUS_BUDGET_MS: '1500' });
const ISSUER = { rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' };
const numbers = new Numbering(ISSUER);
const client = (): Client => deployment.demo;

const statusOf = (trackId: string, who = client(), headers: Record<string, string> = {}) =>
  who.call('GET', `/invoice-status/${trackId}`, { headers });

/**
 * Waits for a status. The service may repeat an answer that the background got a moment ago; on a slow machine it gives the last
 * known status.
 */
const becomes = (status: string, trackId: string) => client().until(status, () => statusOf(trackId));

async function submitted() {
  const { invoice, encf } = numbers.next();
  const { body } = await client().submit(invoice);
  expect(body).toMatchObject({ status: 'EnProceso', encf });
  return { invoice, encf, trackId: body.trackId as string };
}

describe('the status of a submission', () => {
  it('is found immediately by its trackId and becomes final without queries, with one submission at the authority', async () => {
    const { encf, trackId, invoice } = await submitted();
    const first = await statusOf(trackId);
    expect(first.status).toBe(200);
    expect(['EnProceso', 'Aceptado']).toContain(first.body.status);
    const last = await becomes('Aceptado', trackId);
    expect(last.body).toEqual({
      track_id: trackId,
      encf,
      status: 'Aceptado',
      code: '1',
      rnc: ISSUER.rnc,
      date_received: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?-04:00$/),
      messages: [],
    });
    await client().until('Aceptado', () => client().submit(invoice));
    expect(await client().ledger(encf)).toHaveLength(1);
  });

  it('is kept current without queries while the authority keeps the document in process', async () => {
    const release = await client().fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    const { invoice, trackId } = await submitted();
    await until(
      () => statusOf(trackId),
      ({ body }) => body.status === 'EnProceso' && body.code === '3',
    );
    await release();
    const again = await client().until('Aceptado', () => client().submit(invoice));
    expect(again.body.trackId).toBe(trackId);
    await becomes('Aceptado', trackId);
    const expected = [
      /ecf_status_changes_total\{[^}]*env="TesteCF",status="Aceptado"\} [1-9]/,
      /ecf_status_polls\{[^}]*env="TesteCF",state="due"\}/,
    ];
    // The page lacks a process that is too busy to answer in time.
    await until(deployment.metrics, (metrics) => expected.every((row) => row.test(metrics)));
  });

  it('is No encontrado while the authority does not know it, and the last known one while the authority is down', async () => {
    const release = await client().fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    const { invoice, trackId } = await submitted();
    const unknown = { trackId, codigo: '0', estado: 'No encontrado', rnc: null, encf: null, mensajes: [] };
    const found = await client().fault({
      operation: 'consultaresultado',
      kind: 'http',
      status: 200,
      body: JSON.stringify(unknown),
    });
    expect(await becomes('No encontrado', trackId)).toMatchObject({ status: 200, body: { rnc: ISSUER.rnc } });
    // In force before the other fault ends; otherwise the background would learn the real status in between.
    const up = await client().fault({ operation: 'consultaresultado', kind: 'timeout' });
    await found();
    expect(await statusOf(trackId)).toMatchObject({
      status: 200,
      body: { status: 'No encontrado', track_id: trackId },
    });
    await up();
    await release();
    await client().until('Aceptado', () => client().submit(invoice));
    await becomes('Aceptado', trackId);
    const down = await client().fault({ operation: '*', kind: 'down' });
    expect((await statusOf(trackId)).body.status).toBe('Aceptado');
    await down();
  });

  it('is 401 while the authority refuses the login of the issuer, and correct again afterwards', async () => {
    const release = await client().fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    const { invoice, trackId } = await submitted();
    const refused = await client().fault({ operation: 'consultaresultado', kind: 'http', status: 401, body: '' });
    const answer = await until(
      () => statusOf(trackId),
      ({ status }) => status === 401,
    );
    expect(answer.body).toMatchObject({ code: 'login_refused', request_id: expect.any(String) });
    await refused();
    await release();
    await client().until('Aceptado', () => client().submit(invoice));
    await becomes('Aceptado', trackId);
  });

  it('is not found for another account, another environment, an unknown or malformed trackId', async () => {
    const { trackId } = await submitted();
    const other = await newAccount(deployment.running, { rnc: '131246796', name: 'Otra, SRL' });
    for (const answer of [
      await statusOf(trackId, other),
      await statusOf(trackId, client(), { env: 'CerteCF' }),
      await statusOf(randomUUID()),
      await statusOf('not-a-track-id'),
    ])
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await statusOf(trackId, client(), { env: 'eCF' })).status).toBe(401);
    expect((await statusOf('a%20b')).body).toMatchObject({
      code: 'validation_error',
      detail: [{ loc: ['path', 'track_id'] }],
    });
    expect((await statusOf('x'.repeat(101))).status).toBe(422);
    expect((await statusOf(`${trackId}/`)).status).toBe(200);
  });
});
