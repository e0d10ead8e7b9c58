export const newInvoice = {
  title: 'Nueva factura',
};
