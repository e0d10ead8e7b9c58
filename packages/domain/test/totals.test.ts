import { describe, expect, it } from '@jest/globals';
import { checkBusinessRules, type DocumentNode, groupOf, groupsOf, withTotals } from '../src/index.js';
import { changed, example } from './documents.js';

/** The same document without what follows from its lines. */
function withoutTotals(document: DocumentNode): DocumentNode {
  const items = groupsOf(groupOf(groupOf(document, 'ECF'), 'DetallesItems'), 'Item');
  for (const item of items) delete item.MontoItem;
  return changed(document, { 'Encabezado.Totales': undefined });
}

function totalsOf(document: DocumentNode): DocumentNode | null {
  return groupOf(groupOf(groupOf(document, 'ECF'), 'Encabezado'), 'Totales');
}

/** A type 31 with lines of one price each, all at one rate. */
const priced = (prices: readonly string[], changes: Record<string, DocumentNode | string> = {}) =>
  changed(withoutTotals(example('ecf-31')), {
    'DetallesItems.Item': prices.map((price, index) => ({
      NumeroLinea: String(index + 1),
      IndicadorFacturacion: '1',
      CantidadItem: '1',
      PrecioUnitarioItem: price,
    })),
    ...changes,
  });

describe('the totals of a document from its lines', () => {
  it.each(['ecf-31', 'ecf-32', 'ecf-33', 'ecf-34', 'ecf-43', 'ecf-46'])('are those of the example %s.', (name) => {
    const { ECF } = withTotals(withoutTotals(example(name)));
    expect(totalsOf({ ECF: ECF! })).toEqual(totalsOf(example(name)));
    expect(groupOf(ECF as DocumentNode, 'DetallesItems')).toEqual(
      groupOf(groupOf(example(name), 'ECF'), 'DetallesItems'),
    );
  });

  it('add up to the prices where these include ITBIS, although the base has no end.', () => {
    const document = priced(['33.33', '33.33', '33.34'], { 'Encabezado.IdDoc.IndicadorMontoGravado': '1' });
    expect(totalsOf(withTotals(document))).toMatchObject({
      MontoGravadoI1: '84.75',
      TotalITBIS1: '15.25',
      MontoTotal: '100.00',
    });
  });

  it('keep given additional taxes and add them, and no rule finds another sum.', () => {
    const totals = { MontoImpuestoAdicional: '2.00', TotalISRRetencion: '5.00' };
    const document = withTotals(priced(['0.10', '0.20'], { 'Encabezado.Totales': totals }));
    expect(totalsOf(document)).toMatchObject({ ...totals, MontoGravadoTotal: '0.30', MontoTotal: '2.35' });
    const { faults, warnings } = checkBusinessRules(withTotals(priced(['0.10', '0.20'])), { now: new Date() });
    expect([...faults, ...warnings].filter(({ path }) => path.includes('Totales'))).toEqual([]);
  });

  it('are left out where the price of a line cannot be read.', () => {
    const document = withTotals(priced(['1.00', 'a lot']));
    expect(totalsOf(document)).toBeNull();
  });
});
