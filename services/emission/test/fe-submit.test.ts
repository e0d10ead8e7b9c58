import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, example, ISSUER } from './support/documents.js';
import { type Instance, World } from './support/world.js';

describe('POST /fe_Submit', () => {
  let world: World;
  let emission: Instance;

  beforeAll(async () => {
    world = await World.create();
    emission = await world.start();
  });
  afterAll(() => world.stop());

  it('turns invoice JSON into an accepted e-CF', async () => {
    const { status, body } = await world.submit(emission, example('ecf-31', 1));
    expect({ status, body: { ...body, xml: '' } }).toEqual({
      status: 200,
      body: {
        status: 'Aceptado',
        xml: '',
        trackId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        qr_url: expect.stringContaining(`ConsultaTimbre?RncEmisor=${ISSUER}`),
        messages: [],
        encf: encf('31', 1),
        security_code: expect.stringMatching(/^[A-Za-z0-9+/]{6}$/),
        signature_datetime: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
        sequence_used: true,
        warnings: [],
      },
    });
    const ledger = await world.ledger(encf('31', 1));
    expect(ledger.map(({ status: word, effective }) => [word, effective])).toEqual([['Aceptado', true]]);
  });
});
