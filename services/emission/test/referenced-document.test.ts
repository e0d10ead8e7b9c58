import type { DocumentNode, DocumentSummary } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../src/attempt/attempt.js';
import { checkReference } from '../src/references/referenced-document.js';
import { fresh, sending } from './support/attempts.js';

const ORIGINAL = 'E320000000001';
const SUMMARY = fresh().facts.summary;
const INVOICE: DocumentSummary = { ...SUMMARY, ecf_type: '32', encf: ORIGINAL, total_amount: '300000.00' };
const NOTE: DocumentSummary = {
  ...SUMMARY,
  ecf_type: '34',
  encf: 'E340000000001',
  modified_encf: ORIGINAL,
  modification_code: '3',
  total_amount: '100.00',
};

/** The result for `document` when the invoice it refers to is `original`, in a state. */
function refer(
  document: Partial<DocumentSummary>,
  original: Partial<DocumentSummary> = {},
  state: Attempt['state'] = 'accepted',
  codigo = '75',
) {
  const attempt = sending({
    encf: ORIGINAL,
    ecfType: '32',
    facts: { ...fresh().facts, summary: { ...INVOICE, ...original } },
  });
  const emissions = {
    find: async ({ encf }: { encf: string }) =>
      encf === ORIGINAL
        ? { ...attempt, state, verdict: { ...attempt.verdict, messages: [{ codigo, valor: '' }] } }
        : null,
    notesOn: async () => ({ notes: [], attempts: 0 }),
    otherIssuer: async () => null,
  };
  const summary = { ...NOTE, ...document };
  const tree: DocumentNode = {
    ECF: {
      InformacionReferencia: { NCFModificado: ORIGINAL, FechaNCFModificado: '15-06-2026', CodigoModificacion: '3' },
    },
  };
  const issuer = { caller: { accountId: 'account-1', taxpayersRevision: 1 }, ranges: [] };
  return checkReference(
    emissions,
    issuer,
    { env: 'TesteCF', issuerRnc: '199999991', encf: summary.encf },
    summary,
    tree,
  );
}

const resultOf = async (check: ReturnType<typeof refer>) => {
  const { held, faults, warnings } = await check;
  return { held, faults: faults.map(({ code }) => code), warnings: warnings.map(({ code }) => code) };
};
const codes = async (check: ReturnType<typeof refer>) => (await check).faults.map(({ code }) => code);

const CREDIT_INVOICE = { ecf_type: '31', encf: 'E310000000009', buyer_rnc: '131880681' } as const;

describe.each([
  ['a credit note', {}],
  ['a tax credit invoice', CREDIT_INVOICE],
])('%s that refers to one of our consumer invoices', (_, document) => {
  it.each<[Attempt['state'], boolean, string[]]>([
    ['rejected-used', false, ['614']],
    ['rejected-reusable', false, ['614']],
    ['withdrawn', false, ['614']],
    ['processing', true, []],
    ['unknown', true, []],
    ['held', true, []],
  ])('is checked against the state of that invoice: %s', async (state, held, faults) => {
    expect(await resultOf(refer(document, {}, state))).toEqual({ held, faults, warnings: held ? ['614'] : [] });
  });
});

describe('a tax credit invoice', () => {
  const fine = { held: false, faults: [], warnings: [] };

  it('that refers to an accepted consumer invoice may name another buyer and another total', async () => {
    expect(await resultOf(refer({ ...CREDIT_INVOICE, total_amount: '900000.00' }))).toEqual(fine);
  });

  it('that refers to a number of another system is left to the authority', async () => {
    expect(await resultOf(refer(CREDIT_INVOICE, {}, 'rejected-used', '1209'))).toEqual(fine);
    expect(await resultOf(refer({ ...CREDIT_INVOICE, modified_encf: 'E320000000999' }))).toEqual(fine);
  });
});

it('a consumer invoice on the summary route carries no reference', async () => {
  const consumer = { ecf_type: '32', encf: 'E320000000009', total_amount: '100.00' } as const;
  expect(await resultOf(refer(consumer, {}, 'rejected-used'))).toEqual({ held: false, faults: [], warnings: [] });
});

describe('the buyer of a note', () => {
  it.each<[string, Partial<DocumentSummary>, Partial<DocumentSummary>, string[]]>([
    ['is the same', {}, {}, []],
    ['is another', { buyer_rnc: '131880681' }, {}, ['615']],
    ['is missing', { buyer_rnc: null }, {}, ['615']],
    ['is a foreign one instead', { buyer_rnc: null, buyer_foreign_id: 'X1' }, {}, ['615']],
    ['is named, and the invoice names none', {}, { buyer_rnc: null }, []],
    ['is foreign, and the invoice names none', { buyer_rnc: null, buyer_foreign_id: 'X1' }, { buyer_rnc: null }, []],
    ['is none, as in the invoice', { buyer_rnc: null }, { buyer_rnc: null }, []],
  ])('%s', async (_, note, original, expected) => {
    expect(await codes(refer(note, original))).toEqual(expected);
  });
});
