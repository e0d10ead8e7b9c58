import { Decimal, type DocumentNode, type DocumentValue, type EcfType, groupOf, groupsOf, textOf } from '@ecf/domain';

type Group = Record<string, DocumentValue>;

/**
 * Adds what the authority was seen to reject the lack of, each by the code of its rejection. A document that has all of
 * this is blocked by no rule, whatever else it lacks.
 */
export function withWhatIsAskedFor(document: DocumentNode, type: EcfType): DocumentNode {
  const copy = structuredClone(document);
  const ecf = groupOf(copy, 'ECF') as Group;
  const header = groupOf(ecf, 'Encabezado')!;
  const [idDoc, totals] = [groupOf(header, 'IdDoc') as Group, groupOf(header, 'Totales') as Group];
  const items = groupsOf(groupOf(ecf, 'DetallesItems'), 'Item') as Group[];
  const has = (indicators: string) => items.some((item) => indicators.includes(String(item.IndicadorFacturacion)));
  // 1100
  if (idDoc.TipoPago === '2' && type !== '43' && type !== '47') idDoc.FechaLimitePago = '15-07-2026';
  // 176
  if (['TotalITBIS', 'TotalITBIS1', 'TotalITBIS2'].some((name) => isPositive(totals, name))) {
    idDoc.IndicadorMontoGravado ??= '0';
  }
  // 1930
  if (isPositive(totals, 'MontoGravadoTotal') && type !== '46') totals.MontoGravadoI3 ??= '0.00';
  // 1960
  if (has('4')) totals.MontoExento ??= '0.00';
  // 11170
  if (type === '47') totals.TotalISRRetencion ??= '0.00';
  // 260
  for (const item of items) {
    const withholding = groupOf(item, 'Retencion') as Group | null;
    if (withholding?.IndicadorAgenteRetencionoPercepcion !== '1' || type === '47') continue;
    withholding.MontoITBISRetenido ??= '0.00';
    totals.TotalITBISRetenido ??= '0.00';
  }
  // 2020, 2030
  for (const item of items) {
    const [discount, surcharge] = [groupOf(item, 'TablaSubDescuento'), groupOf(item, 'TablaSubRecargo')];
    if (discount !== null) item.DescuentoMonto = sum(groupsOf(discount, 'SubDescuento'), 'MontoSubDescuento');
    if (surcharge !== null) item.RecargoMonto = sum(groupsOf(surcharge, 'SubRecargo'), 'MontoSubRecargo');
  }
  // 1381, and the buyer of a summary, which its schema demands
  if (type === '32' || type === '44') {
    const buyer = groupOf(header, 'Comprador') ?? {};
    const known = textOf(buyer, 'IdentificadorExtranjero') !== null;
    (header as Group).Comprador = known ? buyer : { ...buyer, RNCComprador: '131880681' };
  }
  return copy;
}

function isPositive(group: DocumentNode, name: string): boolean {
  return (Decimal.parse(textOf(group, name) ?? '0')?.sign() ?? 0) > 0;
}

function sum(nodes: readonly DocumentNode[], name: string): string {
  const zero = Decimal.ZERO;
  return nodes.reduce((total, node) => total.plus(Decimal.parse(textOf(node, name) ?? '0') ?? zero), zero).toFixed(2);
}
