/** The amounts of the group Totales. */
export const totals = {
  MontoGravadoI1: 'Gravado al 18 %',
  MontoGravadoI2: 'Gravado al 16 %',
  MontoGravadoI3: 'Gravado al 0 %',
  MontoExento: 'Exento',
  TotalITBIS1: 'ITBIS 18 %',
  TotalITBIS2: 'ITBIS 16 %',
  MontoImpuestoAdicional: 'Impuestos adicionales',
  MontoTotal: 'Total',
  MontoNoFacturable: 'No facturable',
  TotalITBISRetenido: 'ITBIS retenido',
  TotalISRRetencion: 'ISR retenido',
  TotalITBISPercepcion: 'ITBIS percibido',
  TotalISRPercepcion: 'ISR percibido',
  SaldoAnterior: 'Saldo anterior',
  MontoAvancePago: 'Avance de pago',
  ValorPagar: 'Por pagar',
};
