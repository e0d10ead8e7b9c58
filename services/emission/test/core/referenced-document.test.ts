import type { DocumentNode, DocumentSummary } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import type { Attempt } from '../../src/core/attempt.js';
import { checkReference } from '../../src/core/referenced-document.js';
import { fresh, sending } from '../support/attempts.js';

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

/** What is said of `document` when the invoice it refers to is `original`, in a state. */
function refer(
  document: Partial<DocumentSummary>,
  original: Partial<DocumentSummary> = {},
  state: Attempt['state'] = 'accepted',
) {
  const attempt = sending({
    encf: ORIGINAL,
    ecfType: '32',
    facts: { ...fresh().facts, summary: { ...INVOICE, ...original } },
  });
  const emissions = {
    find: async ({ encf }: { encf: string }) => (encf === ORIGINAL ? { ...attempt, state } : null),
    notesOn: async () => [],
  };
  const summary = { ...NOTE, ...document };
  const tree: DocumentNode = {
    ECF: {
      InformacionReferencia: { NCFModificado: ORIGINAL, FechaNCFModificado: '15-06-2026', CodigoModificacion: '3' },
    },
  };
  return checkReference(emissions, { env: 'TesteCF', issuerRnc: '199999991', encf: summary.encf }, summary, tree);
}

const codes = async (check: ReturnType<typeof refer>) => (await check).faults.map(({ code }) => code);

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
