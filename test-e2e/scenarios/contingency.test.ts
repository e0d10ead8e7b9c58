import { expect, it } from '@jest/globals';
import { newAccount } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment({ STATUS_WAIT_MS: '0', FIRST_QUERY_MS: '200' });
const TAXPAYER = { rnc: '101000163', name: 'Contingencia Imaginaria, SRL' };

it('documents wait while the authority is unreachable, and are sent at its return, with events of both', async () => {
  const client = await newAccount(deployment.running, TAXPAYER);
  const numbers = new Numbering(TAXPAYER);
  const release = await client.fault({ operation: '*', kind: 'down' });
  const signed = [numbers.next(), numbers.next(), numbers.next()];
  for (const { invoice } of signed) {
    const { status, body } = await client.submit(invoice, { 'x-contingency': 'true' });
    expect([status, body.status, body.contingency]).toEqual([
      200,
      'EnProceso',
      { since: expect.any(String), legend: expect.stringContaining('modalidad de Contingencia'), deadline: null },
    ]);
  }
  const encfs = signed.map(({ encf }) => encf);
  const listed = await client.call('GET', '/contingency');
  expect(listed.body.documents.map(({ encf }: { encf: string }) => encf)).toEqual(encfs);
  const events = async (types: string) => (await client.call('GET', `/events?types=${types}`)).body.events;
  const [started] = await until(
    () => events('contingency.started'),
    (found) => found.length === 1,
  );
  expect(started).toMatchObject({
    subject: { issuer_rnc: TAXPAYER.rnc, encf: null },
    data: { since: expect.any(String), deadline: null },
  });

  await release();
  for (const { invoice, encf } of signed) {
    const { body } = await client.until('Aceptado', () => client.submit(invoice));
    expect(body.contingency.deadline).toEqual(expect.any(String));
    expect(await client.ledger(encf, TAXPAYER.rnc)).toHaveLength(1);
  }
  expect((await client.call('GET', '/contingency')).body.total).toBe(0);
  const [ended] = await until(
    () => events('contingency.ended'),
    (found) => found.length === 1,
  );
  expect(ended.data).toEqual({ ...started.data, deadline: expect.any(String) });
  expect(await events('contingency.late')).toEqual([]);
});
