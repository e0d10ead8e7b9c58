import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { encf, example } from './support/documents.js';
import { type Answer, type Instance, World } from './support/world.js';

const REJECTED = {
  codigo: '2',
  estado: 'Rechazado',
  mensajes: [{ codigo: '3', valor: 'rechazado' }],
  secuenciaUtilizada: false,
};

describe('a caller whose number another document takes while it waits', () => {
  let world: World;
  let client: ReturnType<typeof createAuthorityClient>;
  let waiting: Instance;
  let other: Instance;
  /** Result queries that the test delays. */
  let held: (() => void)[];
  let holding: boolean;

  beforeAll(async () => {
    // Without a status poller only callers query, so the delayed ones can be counted.
    world = await World.create({ statusPoller: false });
    client = createAuthorityClient({ endpoints: authorityEndpoints(world.simulator.url), userAgent: 'test' });
    const authority: typeof client = {
      ...client,
      async queryResult(input) {
        if (holding) await new Promise<void>((resolve) => held.push(resolve));
        return client.queryResult(input);
      },
    };
    waiting = await world.start({ authority });
    other = await world.start();
  });
  afterAll(async () => {
    await world.stop();
    client.close();
  });
  beforeEach(() => {
    [held, holding] = [[], false];
  });
  afterEach(async () => {
    release();
    await world.clearFaults();
  });

  /** The next document is rejected, and result queries of the first instance wait until `release`. */
  async function hold(): Promise<void> {
    holding = true;
    await world.fault({ operation: 'recepcion', kind: 'verdict', verdict: REJECTED, times: 1 });
  }

  function release(): void {
    holding = false;
    for (const go of held) go();
  }

  async function holds(count: number): Promise<void> {
    while (held.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  const document = (sequence: number, buyer: string) =>
    example('ecf-31', sequence, (ecf) => {
      ecf.FechaHoraFirma = '15-06-2026 09:00:00';
      ecf.Encabezado.Comprador.RazonSocialComprador = buyer;
    });

  function expectRejected({ status, body }: Answer): void {
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ status: 'Rechazado', sequence_used: false, messages: REJECTED.mensajes }),
    ]);
  }

  it.each([
    ['a corrected document', 1, 'Otro nombre'],
    ['the same document', 2, 'Nombre'],
  ])(
    'and its repeat get the outcome of their own attempt from /fe_Submit, not that of %s',
    async (_, sequence, buyer) => {
      await hold();
      const first = world.submit(waiting, document(sequence, 'Nombre'));
      await holds(1);
      const repeat = world.submit(waiting, document(sequence, 'Nombre'));
      await holds(2);
      const decided = await world.submit(other, document(sequence, 'Nombre'));
      expectRejected(decided);
      const later = await world.submit(other, document(sequence, buyer));
      expect(later).toMatchObject({ status: 200, body: { status: 'Aceptado' } });
      expect(later.body.trackId).not.toBe(decided.body.trackId);
      release();
      for (const answer of [await first, await repeat]) {
        expect([answer.status, answer.body]).toEqual([200, decided.body]);
      }
      expect((await world.row(encf('31', sequence)))?.track_id).toBe(later.body.trackId);
      expect(await world.ledger(encf('31', sequence))).toHaveLength(2);
      // The answers that came too late are kept with the attempt that they are about.
      const { rows } = await world.database.query(
        `SELECT x.attempt, count(*)::int AS answers FROM exchange x JOIN emission e ON e.id = x.emission_id
        WHERE e.encf = $1 AND x.operation = 'queryResult' AND x.body LIKE '%Rechazado%' GROUP BY x.attempt`,
        [encf('31', sequence)],
      );
      expect(rows).toEqual([{ attempt: 1, answers: 3 }]);
    },
  );

  it('and its repeat at /submit_ecf get the answer of the attempt with their bytes', async () => {
    // They get their signatures by a submission in another environment each.
    const own = (await world.submit(other, document(3, 'Nombre'), { env: 'CerteCF' })).body.xml;
    const corrected = (await world.submit(other, document(3, 'Otro nombre'), { env: 'eCF' })).body.xml;
    const token = await world.token(other);
    await hold();
    const first = await world.submitSigned(waiting, '/submit_ecf', own, token);
    expect(first).toMatchObject({ status: 200, body: { status: 'EnProceso', trackId: expect.any(String) } });
    const repeat = world.submitSigned(waiting, '/submit_ecf', own, token);
    await holds(1);
    const decided = await settled(() => world.submitSigned(other, '/submit_ecf', own, token));
    expectRejected(decided);
    expect(decided.body.trackId).toBe(first.body.trackId);
    const later = await world.submitSigned(other, '/submit_ecf', corrected, token);
    expect(later.status).toBe(200);
    expect(later.body.security_code).not.toBe(decided.body.security_code);
    release();
    const answer = await repeat;
    expect([answer.status, answer.body]).toEqual([200, decided.body]);
    expect((await world.row(encf('31', 3)))?.track_id).toBe(later.body.trackId);
  });

  /** Repeats until the authority has decided; a further repeat would begin a new attempt. */
  async function settled(repeat: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await repeat();
      if (answer.body.status !== 'EnProceso') return answer;
    }
  }
});
