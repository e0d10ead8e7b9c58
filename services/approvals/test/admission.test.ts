import { expect, it } from '@jest/globals';
import { admit, owedToIssuer } from '../src/given/admission.js';
import type { GivenApproval } from '../src/given/given-approval.js';

const NOW = new Date('2026-06-23T17:45:47-04:00');
let id = 0;

function record(fields: {
  decision?: 1 | 2;
  sent?: boolean;
  authority?: GivenApproval['authority']['status'];
  issuer?: GivenApproval['issuer']['status'];
  issuerSent?: boolean;
}): GivenApproval {
  const sent = fields.sent ?? true;
  return {
    id: ++id,
    key: { env: 'TesteCF', buyerRnc: '188888885', issuerRnc: '199999991', encf: 'E310000000001' },
    accountId: 'a',
    ecfDocumentId: null,
    decision: fields.decision ?? 1,
    rejectionCode: fields.decision === 2 ? 1 : null,
    rejectionDescription: null,
    decidedAt: NOW,
    dateIssued: '2026-06-15',
    totalAmount: '1.00',
    warnings: [],
    xml: { path: 'x', sha256: 'x' },
    createdAt: NOW,
    settled: null,
    supersededAt: null,
    submittedAt: sent ? NOW : null,
    authority: { status: sent ? (fields.authority ?? 'Aceptado') : null, response: null, sentAt: null, tries: 1 },
    issuer: {
      status: fields.issuer ?? null,
      error: null,
      sentAt: fields.issuerSent ? NOW : null,
      tries: fields.issuer ? 1 : 0,
      uncertain: false,
    },
  };
}

const yes = record({});
const no = record({ decision: 2 });
const refused = (issuer: GivenApproval['issuer']['status'], issuerSent = false) =>
  record({ authority: 'Rechazado', issuer, issuerSent });

it.each([
  ['nothing before', [], yes, { kind: 'new', authorityAlone: false }],
  ['accepted', [record({})], yes, { kind: 'answered' }],
  ['submitted', [record({ authority: 'submitted' })], no, { kind: 'answered' }],
  ['failed', [record({ authority: 'failed' })], yes, { kind: 'answered' }],
  ['the same, unsent', [record({ sent: false })], yes, { kind: 'unsent' }],
  ['another one, unsent', [record({ sent: false })], no, { kind: 'new', authorityAlone: false }],
  ['refused, the issuer took it: the same', [refused('delivered')], yes, { kind: 'new', authorityAlone: true }],
  ['refused, the issuer took it: another', [refused('delivered')], no, { kind: 'answered' }],
  ['refused, the issuer may have it', [refused('pending')], no, { kind: 'answered' }],
  ['refused, the issuer may have it, given up', [refused('failed', true)], no, { kind: 'answered' }],
  ['refused by both', [refused('refused')], no, { kind: 'new', authorityAlone: false }],
  ['refused, no receiver', [refused('no_receiver')], no, { kind: 'new', authorityAlone: false }],
  [
    'refused, the issuer may have it, and is no longer listed',
    [refused('no_receiver', true)],
    no,
    { kind: 'answered' },
  ],
  ['refused, then accepted', [refused('delivered'), record({})], yes, { kind: 'answered' }],
] as const)('admits or refuses a decision by the earlier ones: %s', (_name, earlier, wanted, admission) => {
  expect(admit(earlier, wanted)).toMatchObject(admission);
});

it.each([
  ['refused by both, then one for the authority alone', [refused('refused'), record({})], 1],
  ['no receiver, then one for the authority alone', [refused('no_receiver'), record({})], 1],
  ['given up unsent, then one for the authority alone', [refused('failed'), record({})], 1],
  ['the issuer took the first', [refused('delivered'), record({})], null],
  ['the issuer may have the first', [refused('failed', true), record({})], null],
  ['the second goes there by itself', [refused('refused'), record({ issuer: 'refused' })], null],
  ['the second is refused too', [refused('refused'), refused(null)], null],
  ['the second is local', [refused('refused'), record({ sent: false })], null],
] as const)('finds the decision that is still owed to the issuer: %s', (_name, all, owed) => {
  expect(owedToIssuer(all)).toBe(owed === null ? null : all[owed]);
});
