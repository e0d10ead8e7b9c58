import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CROWD, createNewNumbers } from '../src/core/submit/new-numbers.js';
import { type Document, encf, example, ISSUER } from './support/documents.js';
import { type Answer, type Instance, World } from './support/world.js';

describe('what tells new numbers', () => {
  const key = (sequence: number, type = '31', env = 'eCF' as const) => ({
    env,
    issuerRnc: ISSUER,
    encf: encf(type, sequence),
  });

  it('takes what is beyond the highest of its type, in a crowd alone', () => {
    let underWay = CROWD;
    const numbers = createNewNumbers(() => underWay);
    expect(numbers.isAhead(key(5))).toBe(false);
    numbers.issued(key(5));
    numbers.issued(key(3));
    expect([4, 5, 6].map((sequence) => numbers.isAhead(key(sequence)))).toEqual([false, false, true]);
    expect([numbers.isAhead(key(6, '32')), numbers.isAhead({ ...key(6), env: 'CerteCF' })]).toEqual([false, false]);
    expect(numbers.isAhead({ ...key(6), issuerRnc: '131880681' })).toBe(false);
    underWay -= 1;
    expect(numbers.isAhead(key(6))).toBe(false);
    underWay += 1;
    numbers.forget();
    expect(numbers.isAhead(key(6))).toBe(false);
  });
});

describe('numbers that are not looked up before they are issued', () => {
  let world: World;
  let emission: Instance;
  let second: Instance;
  /** Documents of the first instance that are signed and wait; null where none has to. */
  let signed: { count: number; opened: Promise<void>; open: () => void } | null = null;

  beforeAll(async () => {
    world = await World.create({ settings: { STATUS_WAIT_MS: '0' } });
    emission = await world.start({
      checkpoint: async (step) => {
        if (step !== 'signed' || signed === null) return;
        signed.count += 1;
        await signed.opened;
      },
    });
    second = await world.start();
  });
  afterAll(() => world.stop());

  const document = (sequence: number) => example('ecf-31', sequence);
  const other = (sequence: number) =>
    example('ecf-31', sequence, (ecf) => {
      ecf.Encabezado.Comprador.RazonSocialComprador = 'Otro nombre';
    });
  const some = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

  /** Submits a crowd's worth of numbers from `first` on, and the documents once all of those are signed and wait. */
  async function inACrowd(first: number, documents: readonly Document[], signedMore: number): Promise<Answer[]> {
    let open = (): void => undefined;
    signed = { count: 0, opened: new Promise((resolve) => (open = resolve)), open };
    const gate = signed;
    const crowd = some(first, CROWD).map((sequence) => world.submit(emission, document(sequence)));
    while (gate.count < CROWD) await delay(10);
    const answers = documents.map((each) => world.submit(emission, each));
    while (gate.count < CROWD + signedMore) await delay(10);
    open();
    for (const { status } of await Promise.all(crowd)) expect(status).toBe(200);
    signed = null;
    return Promise.all(answers);
  }

  it('are issued once, and answered for what another instance has made of them', async () => {
    await world.submit(emission, document(1));
    // The other instance is ahead, and a number is cancelled: the first one knows neither.
    const theirs = await world.submit(second, document(30));
    await world.submit(second, document(32));
    await world.database.query(
      `INSERT INTO cancelled_range (env, issuer_rnc, ecf_type, first_number, last_number, cancellation_id)
       VALUES ('TesteCF', $1, '31', 34, 34, 77)`,
      [ISSUER],
    );
    // All four are signed without a look.
    const [repeat, conflict, cancelled, fine] = await inACrowd(
      2,
      [document(30), other(32), document(34), document(36)],
      4,
    );
    const { trackId, xml } = theirs.body;
    expect(repeat).toMatchObject({ status: 200, body: { trackId, xml } });
    expect([conflict?.status, conflict?.body.code]).toEqual([409, 'encf_already_used']);
    expect([cancelled?.status, cancelled?.body.code]).toEqual([409, 'encf_cancelled']);
    expect([fine?.status, fine?.body.encf]).toEqual([200, encf('31', 36)]);
    for (const sequence of [...some(2, CROWD), 30, 32, 36])
      expect(await world.ledger(encf('31', sequence))).toHaveLength(1);
    expect(await world.ledger(encf('31', 34))).toEqual([]);
  });

  it('are looked up where their document is refused: of a number that is known, the number is what is wrong', async () => {
    await world.submit(emission, document(101));
    await world.submit(second, document(130));
    world.ranges(ISSUER, [{ env: 'TesteCF', ecf_type: '31', from: encf('31', 1), to: encf('31', 120), expires: null }]);
    const [known, unknown] = await inACrowd(102, [other(130), document(131)], 0);
    world.ranges(ISSUER, []);
    expect([known?.status, known?.body.code]).toEqual([409, 'encf_already_used']);
    expect([unknown?.status, unknown?.body.code]).toEqual([400, 'invalid_document']);
    expect(await world.ledger(encf('31', 131))).toEqual([]);
  });
});
