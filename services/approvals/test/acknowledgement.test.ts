import { trustCheck } from '@ecf/public-door';
import { expect, it } from '@jest/globals';
import { judgeAcknowledgement } from '../src/core/acknowledgement.js';

const sent = {
  key: { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000001' },
  buyerRnc: '188888885',
} as const;

it.each([
  ['far too large', `<ARECF>${' '.repeat(300_000)}</ARECF>`, /larger than 262144 bytes/],
  ['made to be costly', `<ARECF>${'<a xmlns="x"/>'.repeat(5_000)}</ARECF>`, /more in it than any acknowledgement/],
  ['no XML', 'OK', /cannot be read/],
])('an answer that is %s counts for nothing and costs little', (_, text, fault) => {
  const judged = judgeAcknowledgement(Buffer.from(text), sent, new Date('2026-06-23T16:00:00Z'), trustCheck(null));
  expect(judged).toMatchObject({ receiptStatus: null, fault: expect.stringMatching(fault) });
});
