import type { totals as spanish } from '../es/totals.js';

export const totals: typeof spanish = {
  MontoGravadoI1: 'Taxed at 18%',
  MontoGravadoI2: 'Taxed at 16%',
  MontoGravadoI3: 'Taxed at 0%',
  MontoExento: 'Exempt',
  TotalITBIS1: 'ITBIS 18%',
  TotalITBIS2: 'ITBIS 16%',
  MontoImpuestoAdicional: 'Additional taxes',
  MontoTotal: 'Total',
  MontoNoFacturable: 'Not billable',
  TotalITBISRetenido: 'ITBIS withheld',
  TotalISRRetencion: 'Income tax withheld',
  TotalITBISPercepcion: 'ITBIS collected in advance',
  TotalISRPercepcion: 'Income tax collected in advance',
  SaldoAnterior: 'Previous balance',
  MontoAvancePago: 'Advance payment',
  ValorPagar: 'Payable',
};
