import type { newInvoice as spanish } from '../es/new-invoice.js';

export const newInvoice: typeof spanish = {
  title: 'New invoice',
};
