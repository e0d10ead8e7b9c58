import { randomUUID } from 'node:crypto';
import { makeEvent } from '@ecf/bus/events';
import type { DeliveryChanged } from '@ecf/contracts';
import { writeXml } from '@ecf/ecf-xml';
import { until } from '@ecf/test-support/until';
import { signXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BuyerReceiver } from './support/buyer-receiver.js';
import { ACCOUNT, BUYER, certificate, ISSUER, issuedInvoice, order, World } from './support/world.js';

const delivered: DeliveryChanged[] = [];
let world: World;
let receiver: BuyerReceiver;
/** The number of runs by taxpayer. */
const runs = new Map<string, number>();

beforeAll(async () => {
  world = await World.start({ settings: { DELIVERY_FIRST_RETRY_MS: '30' } });
  receiver = await BuyerReceiver.start('120000777');
  await world.list(receiver.rnc, receiver.url);
  await world.list(ISSUER, world.url());
  await world.bus.subscribe({
    topics: ['deliveries.v1'],
    group: 'query',
    handler: async ({ data }) => void delivered.push(data as DeliveryChanged),
  });
});
afterAll(async () => {
  await receiver.stop();
  await world.stop();
});

function publish(topic: string, type: string, data: object): Promise<void> {
  const draft = { topic, type, source: 'emission', subject: type, key: randomUUID(), data };
  return world.bus.publish([makeEvent(draft, { id: randomUUID(), time: new Date() })]);
}

/** The authority and emission begin a run of the taxpayer. */
async function startRun(rnc: string): Promise<void> {
  const run = (runs.get(rnc) ?? 1) + 1;
  runs.set(rnc, run);
  await world.control('POST', `certification/${rnc}/restart`, { env: 'TesteCF' });
  // The service estimates the time of the database, which may be ahead of this process.
  const started_at = new Date(Date.now() + 1_000).toISOString();
  await publish('runs.v1', 'run.started', { env: 'TesteCF', issuer_rnc: rnc, account_id: ACCOUNT, run, started_at });
}

/** The authority accepts a document of the run. */
async function accept(encf: string, run: number): Promise<void> {
  const file = `TesteCF/ecf/${ISSUER}/issued/2026/06/${encf}-run-${run}.xml`;
  const text = `<ECF><RNCEmisor>${ISSUER}</RNCEmisor><eNCF>${encf}</eNCF><run>${run}</run></ECF>`;
  const { checksum } = await world.archive.put(file, Buffer.from(text));
  const stored = { xml_storage_path: file, xml_checksum: checksum };
  await publish('invoices.v1', 'invoice.changed', issuedInvoice(encf, { run, buyer_rnc: receiver.rnc, ...stored }));
}

describe('after the start of a certification run', () => {
  it('an e-CF under a number of the run before is delivered, and has its own acknowledgement', async () => {
    const encf = world.nextEncf('31');
    const deliver = async (run: number) => {
      await accept(encf, run);
      await until(
        () => delivered.filter((one) => one.encf === encf && one.delivery_status === 'delivered'),
        (seen) => seen.length === run,
      );
    };
    const statusOf = async () => (await world.call('GET', `/received-arecf/${encf}?issuer_rnc=${ISSUER}`)).status;
    await deliver(1);
    expect(await statusOf()).toBe(200);
    await startRun(ISSUER);
    expect(await statusOf()).toBe(404);
    await deliver(2);
    expect(await statusOf()).toBe(200);
    expect(delivered.filter((one) => one.encf === encf).map(({ run }) => run)).toEqual([1, 2]);
    // An operator names the delivery of the present run.
    await world.database.query(
      "UPDATE outgoing_documents SET status = 'failed' WHERE kind = 'delivery' AND env = 'TesteCF'",
    );
    const retry = world.instances[0]?.internal.retryDelivery({ env: 'TesteCF', issuer_rnc: ISSUER, encf });
    await expect(retry).rejects.toMatchObject({ code: 'conflict' });
  });

  it('a document of the run before that the buyer does not have yet is not delivered', async () => {
    const encf = world.nextEncf('31');
    const run = runs.get(ISSUER) ?? 1;
    await startRun(ISSUER);
    const reached = receiver.deliveries.length;
    // The authority decides it after the start.
    await accept(encf, run);
    const ended = await until(
      () => delivered.filter((one) => one.encf === encf && one.final === true),
      (seen) => seen.length === 1,
    );
    expect(ended).toMatchObject([{ run, delivery_status: 'not_required' }]);
    expect(receiver.deliveries.length).toBe(reached);
  });

  it('a document under a number of the run before is answered again', async () => {
    const encf = await world.invoice();
    const post = (fields: object) => world.call('POST', '/acecf/?submit_to_authority=true', order(encf, { ...fields }));
    const approval = await post({});
    expect([approval.status, approval.body.authority_submission_status]).toEqual([201, 'Aceptado']);
    const rejection = { approval_status: 2, rejection_reason: 'No recibida' };
    expect((await post(rejection)).status).toBeGreaterThanOrEqual(400);
    await startRun(BUYER);
    await world.accept(encf);
    const second = await post({});
    expect([second.status, second.body.authority_submission_status]).toEqual([201, 'Aceptado']);
    expect(second.body.id).not.toBe(approval.body.id);
  });

  it("a buyer's answer of the run before does not answer the new document", async () => {
    const encf = await world.invoice();
    const answer = async (Estado: string) => {
      const fields = {
        ...{ Version: '1.0', RNCEmisor: ISSUER, eNCF: encf, FechaEmision: '15-06-2026', MontoTotal: '11430.00' },
        ...{ RNCComprador: BUYER, Estado },
        ...(Estado === '2' ? { DetalleMotivoRechazo: 'No recibida' } : {}),
        FechaHoraAprobacionComercial: '23-06-2026 17:45:47',
      };
      const { xml } = await signXml(writeXml({ ACECF: { DetalleAprobacionComercial: fields } }), certificate);
      return (await world.send(xml)).status;
    };
    const statusOf = async () =>
      (await world.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${ISSUER}`)).body
        .approval_status;
    expect([await answer('1'), await statusOf()]).toEqual([200, 'approved']);
    await startRun(ISSUER);
    await until(statusOf, (status) => status === 'pending');
    expect([await answer('2'), await statusOf()]).toEqual([200, 'rejected']);
    const decisions = await until(
      () => world.published.filter(({ data }) => data.encf === encf && data.direction === 'received'),
      (seen) => seen.length === 2,
    );
    expect(decisions.map(({ data }) => [data.run, data.approval_status])).toEqual([
      [(runs.get(ISSUER) as number) - 1, 'approved'],
      [runs.get(ISSUER), 'rejected'],
    ]);
  });
});
