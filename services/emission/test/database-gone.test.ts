import { CuttableProxy } from '@ecf/test-servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, example } from './support/documents.js';
import { type Instance, World } from './support/world.js';

describe('the database is gone for a while', () => {
  let world: World;
  let proxy: CuttableProxy;
  let emission: Instance;
  let impatient: Instance;
  let cutAt: string | null = null;
  let cutMs = 0;

  beforeAll(async () => {
    world = await World.create();
    const url = new URL(world.databaseUrl);
    proxy = await CuttableProxy.start({ host: url.hostname, port: Number(url.port) });
    url.hostname = '127.0.0.1';
    url.port = String(proxy.port);
    const checkpoint = async (step: string) => {
      if (step !== cutAt) return;
      cutAt = null;
      await proxy.cutFor(cutMs);
    };
    emission = await world.start({ checkpoint }, { DATABASE_URL: url.href });
    impatient = await world.start({ checkpoint }, { DATABASE_URL: url.href, DATABASE_PATIENCE_MS: 300 });
  });
  afterAll(async () => {
    await world.stop();
    await proxy.cut();
  });

  it('before a request: it waits, and is answered as ever', async () => {
    await world.submit(emission, example('ecf-31', 1));
    await proxy.cutFor(1_500);
    const { status, body } = await world.submit(emission, example('ecf-31', 2));
    expect([status, body.status]).toEqual([200, 'Aceptado']);
  });

  it.each(['signed', 'stored', 'committed', 'sent'])(
    'after the step "%s": nothing is lost and nothing is sent twice',
    async (step) => {
      sequence += 1;
      cutAt = step;
      cutMs = 1_200;
      const { status, body } = await world.submit(emission, example('ecf-31', sequence));
      expect([status, body.trackId]).toEqual([200, expect.any(String)]);
      await world.reaches(encf('31', sequence), ['accepted']);
      const ledger = await world.ledger(encf('31', sequence));
      expect(ledger.map(({ track_id, effective }) => [track_id, effective])).toEqual([[body.trackId, true]]);
    },
  );
  let sequence = 10;

  it('for longer than a request waits: 503 with Retry-After, nothing consumed, and the service recovers', async () => {
    cutAt = 'stored';
    cutMs = 2_000;
    const answer = await world.submit(impatient, example('ecf-31', 20));
    expect([answer.status, answer.body.code, Number(answer.headers.get('retry-after')) > 0]).toEqual([
      503,
      'service_unavailable',
      true,
    ]);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const row = await world.row(encf('31', 20));
    expect([null, 'withdrawn']).toContain(row?.state ?? null);
    expect(await world.ledger(encf('31', 20))).toEqual([]);
    const again = await world.submit(impatient, example('ecf-31', 20));
    expect([again.status, again.body.status]).toEqual([200, 'Aceptado']);
  });

  it('for longer, when the answer of the authority is there already: the caller gets it, and it is stored later', async () => {
    cutAt = 'sent';
    cutMs = 2_000;
    const { status, body } = await world.submit(impatient, example('ecf-31', 21));
    expect([status, body.trackId]).toEqual([200, expect.any(String)]);
    const row = await world.reaches(encf('31', 21), ['accepted']);
    expect(row.track_id).toBe(body.trackId);
    expect(await world.ledger(encf('31', 21))).toHaveLength(1);
  });

  it('readiness says so', async () => {
    await proxy.cutFor(700);
    const gone = await fetch(`${emission.url}/health/ready`);
    expect(gone.status).toBe(503);
    expect((await fetch(`${emission.url}/health/live`)).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect((await fetch(`${emission.url}/health/ready`)).status).toBe(200);
  });
});
