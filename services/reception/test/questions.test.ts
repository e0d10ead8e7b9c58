import { RECEPTION_OPERATIONS, type ReceptionOperations, receivedInvoiceChangedSchema } from '@ecf/contracts';
import { createInternalClient, identityKeyFrom, serve } from '@ecf/service-kit';
import { signXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, sampleBytes } from './support/documents.js';
import { BUYER, forger, NOW, OTHER_BUYER, OTHER_PROVIDER, PROVIDER, provider } from './support/senders.js';
import { MASTER_KEY, taxpayer, taxpayerChanged } from './support/taxpayers.js';
import { startWorld, type World } from './support/world.js';

let world: World;
let ask: ReceptionOperations;
let stop: () => Promise<void>;

beforeAll(async () => {
  world = await startWorld();
  await world.bus.publish([taxpayerChanged(taxpayer({ rnc: OTHER_BUYER }))]);
  await world.send(await sampleBytes({ encf: encf(1) }));
  await world.send(await sampleBytes({ encf: encf(1), total: '9.00', certificate: forger.certificate }));
  await world.send(await sampleBytes({ encf: encf(1), issuer: OTHER_PROVIDER }));
  await world.send(await sampleBytes({ encf: encf(2), buyer: OTHER_BUYER }));
  const server = await serve((world.instances[0] as World['instances'][0]).app, { host: '127.0.0.1', port: 0 });
  stop = server.stop;
  const clock = () => NOW;
  ask = createInternalClient(RECEPTION_OPERATIONS, {
    url: server.url,
    owner: 'reception',
    service: 'query',
    identityKey: identityKeyFrom(MASTER_KEY),
    clock,
  });
});
afterAll(async () => {
  await stop();
  await world.stop();
});

describe('questions of other services', () => {
  it('what was received under a number, with its conflicts', async () => {
    const question = { env: 'TesteCF' as const, buyer_rncs: [BUYER, OTHER_BUYER], encf: encf(1) };
    const { received } = await ask.findReceived({ ...question, issuer_rnc: PROVIDER });
    expect(received).toMatchObject([{ issuer_rnc: PROVIDER, buyer_rnc: BUYER, revision: 2, conflicts: [{}] }]);
    const all = await ask.findReceived({ ...question, issuer_rnc: null });
    expect(all.received.map((one) => one.issuer_rnc).sort()).toEqual([OTHER_PROVIDER, PROVIDER].sort());
    const none = await ask.findReceived({ ...question, issuer_rnc: null, buyer_rncs: [OTHER_BUYER] });
    expect(none.received).toEqual([]);
  });

  it('everything, page by page', async () => {
    const first = await ask.pageOfReceived({ after: 0, limit: 2 });
    const second = await ask.pageOfReceived({ after: first.next as number, limit: 2 });
    expect([...first.received, ...second.received].map((one) => one.encf)).toEqual([encf(1), encf(1), encf(2)]);
    expect(second.next).toBeNull();
    for (const one of first.received) expect(receivedInvoiceChangedSchema.parse(one)).toEqual(one);
  });

  it('whom a token proves', async () => {
    const seed = await (await fetch(`${world.url()}/fe/autenticacion/api/semilla`)).text();
    const canonical = seed.replace(/^<\?xml[^>]*\?>/, '');
    const { xml } = await signXml({ canonical, output: canonical }, provider.certificate);
    const answer = await world.send(xml, { path: '/fe/autenticacion/api/validacioncertificado' });
    const authorization = `Bearer ${(await answer.json()).token}`;
    expect(await ask.verifyProviderToken({ env: 'TesteCF', authorization })).toEqual({ holder: '00100000001' });
    expect(await ask.verifyProviderToken({ env: 'eCF', authorization })).toEqual({ holder: null });
    expect(await ask.verifyProviderToken({ env: 'TesteCF', authorization: null })).toEqual({ holder: null });
  });
});
