export const contingency = {
  title: 'Contingencia',
  count: '{count, plural, one {# comprobante espera a la DGII} other {# comprobantes esperan a la DGII}}',
  calm: 'Ningún comprobante espera a la DGII.',
  how: 'Si la DGII no responde, los comprobantes que se envían con contingencia se firman, aparecen aquí y se envían solos cuando la DGII responde de nuevo.',
  what: 'Estos comprobantes están firmados y se enviarán solos cuando la DGII responda. Usted no tiene que enviarlos de nuevo. Mientras tanto, su representación impresa lleva esta leyenda:',
  waiting: 'Comprobantes en espera',
  document: 'e-NCF',
  since: 'Firmado',
  deadline: 'Plazo para enviarlo',
  noDeadline: '72 horas desde que la DGII responda',
  next: 'Siguientes',
};
