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
 * The status once it is the one wanted: an answer that the background was given a moment ago is given again, and where the
 * machine is slower than the budget the last known one is.
 */
const becomes = (status: string, trackId: string) => client().until(status, () => statusOf(trackId));

async function submitted() {
  const { invoice, encf } = numbers.next();
  const { body } = await client().submit(invoice);
  expect(body).toMatchObject({ status: 'EnProceso', encf });
  return { invoice, encf, trackId: body.trackId as string };
}

describe('the status of a submission', () => {
  it('is found at once by its trackId, and final by itself, with one submission at the authority', async () => {
    const { encf, trackId, invoice } = await submitted();
    const first = await statusOf(trackId);
    expect(first.status).toBe(200);
    expect(['EnProceso', 'Aceptado']).toContain(first.body.status);
    const last = await becomes('Aceptado', trackId);
    expect(last.body).toEqual({
      track_id: trackId,
      status: 'Aceptado',
      code: '1',
      rnc: ISSUER.rnc,
      date_received: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?-04:00$/),
      messages: [],
    });
    await client().until('Aceptado', () => client().submit(invoice));
    expect(await client().ledger(encf)).toHaveLength(1);
  });

  it('follows a document that the authority keeps in process, without anybody asking', async () => {
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
    const told = [
      /ecf_status_changes_total\{[^}]*env="TesteCF",status="Aceptado"\} [1-9]/,
      /ecf_status_polls\{[^}]*env="TesteCF",state="due"\}/,
    ];
    // A process that is busy may be missing from a page.
    await until(deployment.metrics, (metrics) => told.every((row) => row.test(metrics)));
  });

  it('is No encontrado while the authority does not know it, and the last known one while it cannot be asked', async () => {
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
    // In force once the other has ended: between the two the background would be told what the authority knows.
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

  it('is 401 while the authority refuses the login of the issuer, and known again without a hand afterwards', async () => {
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

  it('is nobody else’s: another account, another environment, an unknown or impossible trackId', async () => {
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
