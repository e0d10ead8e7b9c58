import type { RuleCase } from './cases.js';

const ITEM = 'DetallesItems.Item[1]';
const TOTALS = 'Encabezado.Totales';

export const LINE_CASES: readonly RuleCase[] = [
  {
    rule: 'business.line-number-repeated',
    on: 'ecf-31',
    breaks: { 'DetallesItems.Item[2].NumeroLinea': '01' },
    at: 'ECF.DetallesItems.Item[2].NumeroLinea',
    keeps: { 'DetallesItems.Item[2].NumeroLinea': '7' },
  },
  {
    rule: 'business.exempt-lines-only',
    on: 'ecf-43',
    breaks: { [`${ITEM}.IndicadorFacturacion`]: '1' },
    at: `ECF.${ITEM}.IndicadorFacturacion`,
  },
  {
    rule: 'business.exempt-lines-only',
    on: 'ecf-47',
    breaks: { [`${ITEM}.IndicadorFacturacion`]: '0' },
    at: `ECF.${ITEM}.IndicadorFacturacion`,
  },
  {
    rule: 'business.special-regime-exempt-lines',
    on: 'ecf-44',
    breaks: { [`${ITEM}.IndicadorFacturacion`]: '1' },
    at: `ECF.${ITEM}.IndicadorFacturacion`,
    keeps: { [`${ITEM}.IndicadorFacturacion`]: '0' },
  },
  {
    rule: 'business.export-zero-rate-lines',
    on: 'ecf-46',
    breaks: { [`${ITEM}.IndicadorFacturacion`]: '4' },
    at: `ECF.${ITEM}.IndicadorFacturacion`,
    keeps: { [`${ITEM}.IndicadorFacturacion`]: ' 3 ' },
  },
  {
    rule: 'business.services-only',
    on: 'ecf-47',
    breaks: { [`${ITEM}.IndicadorBienoServicio`]: '1' },
    at: `ECF.${ITEM}.IndicadorBienoServicio`,
  },
  {
    rule: 'business.isr-withheld-services-only',
    on: 'ecf-41',
    breaks: { [`${ITEM}.IndicadorBienoServicio`]: '1' },
    at: `ECF.${ITEM}.Retencion.MontoISRRetenido`,
    keeps: { [`${ITEM}.IndicadorBienoServicio`]: '1', [`${ITEM}.Retencion.MontoISRRetenido`]: '0.00' },
  },
  {
    rule: 'business.itbis-withheld-required',
    on: 'ecf-41',
    breaks: { [`${ITEM}.Retencion.MontoITBISRetenido`]: undefined },
    at: `ECF.${ITEM}.Retencion.MontoITBISRetenido`,
    keeps: { [`${ITEM}.Retencion.MontoITBISRetenido`]: '0.00' },
  },
  {
    rule: 'business.itbis-withheld-total-required',
    on: 'ecf-41',
    breaks: { [`${TOTALS}.TotalITBISRetenido`]: undefined },
    at: `ECF.${TOTALS}.TotalITBISRetenido`,
    keeps: { [`${TOTALS}.TotalITBISRetenido`]: '0.00' },
  },
  {
    rule: 'business.isr-withheld-total-required',
    on: 'ecf-47',
    breaks: { [`${TOTALS}.TotalISRRetencion`]: undefined },
    at: `ECF.${TOTALS}.TotalISRRetencion`,
  },
  {
    rule: 'business.line-amount',
    on: 'ecf-31',
    breaks: { [`${ITEM}.MontoItem`]: '7501.01' },
    at: `ECF.${ITEM}.MontoItem`,
    keeps: { [`${ITEM}.MontoItem`]: '7501.00' },
  },
  {
    rule: 'business.line-amount',
    on: 'ecf-31',
    breaks: { [`${ITEM}.MontoItem`]: '7498.99' },
    at: `ECF.${ITEM}.MontoItem`,
    keeps: { [`${ITEM}.PrecioUnitarioItem`]: '800.1004' },
  },
  {
    rule: 'business.subquantity-required',
    on: 'ecf-32-large',
    breaks: { 'DetallesItems.Item[2].TablaSubcantidad': undefined },
    at: 'ECF.DetallesItems.Item[2].TablaSubcantidad',
    keeps: { 'DetallesItems.Item[2].TablaSubcantidad': undefined, 'DetallesItems.Item[2].UnidadMedida': '18' },
  },
  {
    rule: 'business.selective-tax-data',
    on: 'ecf-32-large',
    breaks: { 'DetallesItems.Item[2].GradosAlcohol': undefined },
    at: 'ECF.DetallesItems.Item[2].GradosAlcohol',
    keeps: { 'DetallesItems.Item[2].GradosAlcohol': undefined, 'DetallesItems.Item[2].UnidadMedida': '18' },
  },
  {
    rule: 'business.selective-tax-data',
    on: 'ecf-32-large',
    breaks: { 'DetallesItems.Item[2].PrecioUnitarioReferencia': undefined },
    at: 'ECF.DetallesItems.Item[2].PrecioUnitarioReferencia',
  },
  {
    rule: 'business.line-discount-table',
    on: 'ecf-31',
    breaks: { [`${ITEM}.TablaSubDescuento`]: undefined },
    at: `ECF.${ITEM}.TablaSubDescuento`,
    keeps: { [`${ITEM}.TablaSubDescuento`]: undefined, [`${ITEM}.DescuentoMonto`]: '0.00' },
  },
  {
    rule: 'business.line-discount-table',
    on: 'ecf-31',
    breaks: { [`${ITEM}.TablaSubDescuento.SubDescuento[1].MontoSubDescuento`]: '400.00' },
    at: `ECF.${ITEM}.DescuentoMonto`,
    keeps: {
      [`${ITEM}.TablaSubDescuento.SubDescuento[1].MontoSubDescuento`]: '400.00',
      [`${ITEM}.TablaSubDescuento.SubDescuento[2]`]: { TipoSubDescuento: '$', MontoSubDescuento: '100.00' },
    },
  },
  {
    rule: 'business.line-discount-table',
    on: 'ecf-31',
    breaks: { [`${ITEM}.DescuentoMonto`]: undefined },
    at: `ECF.${ITEM}.DescuentoMonto`,
    keeps: { [`${ITEM}.TablaSubDescuento.SubDescuento[1].MontoSubDescuento`]: undefined },
  },
  {
    rule: 'business.line-surcharge-table',
    on: 'ecf-33',
    breaks: { [`${ITEM}.RecargoMonto`]: '50.00' },
    at: `ECF.${ITEM}.TablaSubRecargo`,
    keeps: {
      [`${ITEM}.RecargoMonto`]: '50.00',
      [`${ITEM}.TablaSubRecargo`]: { SubRecargo: [{ TipoSubRecargo: '$', MontoSubRecargo: '50.00' }] },
    },
  },
  {
    rule: 'business.line-discount-percentage',
    on: 'ecf-31',
    breaks: {
      [`${ITEM}.TablaSubDescuento.SubDescuento[1]`]: {
        TipoSubDescuento: '%',
        SubDescuentoPorcentaje: '5.00',
        MontoSubDescuento: '500.00',
      },
    },
    at: `ECF.${ITEM}.TablaSubDescuento.SubDescuento[1].MontoSubDescuento`,
    keeps: {
      [`${ITEM}.TablaSubDescuento.SubDescuento[1]`]: {
        TipoSubDescuento: '%',
        SubDescuentoPorcentaje: '6.25',
        MontoSubDescuento: '500.00',
      },
    },
  },
  {
    rule: 'business.line-surcharge-percentage',
    on: 'ecf-33',
    breaks: {
      [`${ITEM}.TablaSubRecargo`]: {
        SubRecargo: [{ TipoSubRecargo: '%', SubRecargoPorcentaje: '1.00', MontoSubRecargo: '8.00' }],
      },
    },
    at: `ECF.${ITEM}.TablaSubRecargo.SubRecargo[1].MontoSubRecargo`,
    keeps: {
      [`${ITEM}.TablaSubRecargo`]: {
        SubRecargo: [{ TipoSubRecargo: '%', SubRecargoPorcentaje: '1.00', MontoSubRecargo: '6.00' }],
      },
    },
  },
  {
    rule: 'business.adjustment-amount-required',
    on: 'ecf-32-large',
    breaks: { 'DescuentosORecargos.DescuentoORecargo[1].MontoDescuentooRecargo': undefined },
    at: 'ECF.DescuentosORecargos.DescuentoORecargo[1].MontoDescuentooRecargo',
  },
  {
    rule: 'business.adjustment-percentage',
    on: 'ecf-32-large',
    breaks: { [`${ITEM}.TablaImpuestoAdicional`]: { ImpuestoAdicional: [{ TipoImpuesto: '002' }] } },
    at: 'ECF.DescuentosORecargos.DescuentoORecargo[1].TipoValor',
    keeps: {
      [`${ITEM}.TablaImpuestoAdicional`]: { ImpuestoAdicional: [{ TipoImpuesto: '023' }, { TipoImpuesto: '006' }] },
    },
  },
  {
    rule: 'business.norma-1007-tax-included',
    on: 'ecf-32-large',
    breaks: { 'DescuentosORecargos.DescuentoORecargo[1].IndicadorNorma1007': '1' },
    at: 'ECF.Encabezado.IdDoc.IndicadorMontoGravado',
    keeps: {
      'DescuentosORecargos.DescuentoORecargo[1].IndicadorNorma1007': '1',
      'Encabezado.IdDoc.IndicadorMontoGravado': '1',
    },
  },
  {
    rule: 'business.special-regime-taxes',
    on: 'ecf-44',
    breaks: { [`${ITEM}.TablaImpuestoAdicional.ImpuestoAdicional[1].TipoImpuesto`]: '006' },
    at: `ECF.${ITEM}.TablaImpuestoAdicional.ImpuestoAdicional[1].TipoImpuesto`,
    keeps: { [`${ITEM}.TablaImpuestoAdicional.ImpuestoAdicional[1].TipoImpuesto`]: '005' },
  },
  {
    rule: 'business.special-regime-taxes',
    on: 'ecf-44',
    breaks: { [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].TipoImpuesto`]: '023' },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].TipoImpuesto`,
  },
  {
    rule: 'business.ad-valorem-without-specific',
    on: 'ecf-32-large',
    breaks: {
      [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].MontoImpuestoSelectivoConsumoEspecifico`]: undefined,
    },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[2].TipoImpuesto`,
    keeps: {
      [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].MontoImpuestoSelectivoConsumoEspecifico`]: undefined,
      'DetallesItems.Item[2].UnidadMedida': '18',
    },
  },
  {
    rule: 'business.additional-tax-detail',
    on: 'ecf-44',
    breaks: { [`${ITEM}.TablaImpuestoAdicional`]: undefined },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].OtrosImpuestosAdicionales`,
  },
  {
    rule: 'business.additional-tax-rate',
    on: 'ecf-44',
    breaks: { [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].TasaImpuestoAdicional`]: '3' },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].TasaImpuestoAdicional`,
    keeps: { [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].TasaImpuestoAdicional`]: '2.00' },
  },
  {
    rule: 'business.additional-tax-rate',
    on: 'ecf-32-large',
    breaks: { [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[2].TasaImpuestoAdicional`]: '20' },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[2].TasaImpuestoAdicional`,
    keeps: { [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].TasaImpuestoAdicional`]: '999.99' },
  },
  {
    rule: 'business.additional-tax-detail',
    on: 'ecf-44',
    breaks: { [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].OtrosImpuestosAdicionales`]: '401.01' },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].OtrosImpuestosAdicionales`,
    keeps: { [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].OtrosImpuestosAdicionales`]: '401.00' },
  },
  {
    rule: 'business.additional-tax-amount',
    on: 'ecf-32-large',
    breaks: {
      [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].MontoImpuestoSelectivoConsumoEspecifico`]: '541.00',
    },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].MontoImpuestoSelectivoConsumoEspecifico`,
    keeps: {
      [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[1].MontoImpuestoSelectivoConsumoEspecifico`]: '540.95',
    },
  },
  {
    rule: 'business.additional-tax-amount',
    on: 'ecf-32-large',
    breaks: {
      [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[2].MontoImpuestoSelectivoConsumoAdvalorem`]: '150.00',
    },
    at: `ECF.${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional[2].MontoImpuestoSelectivoConsumoAdvalorem`,
  },
];
