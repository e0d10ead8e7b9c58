import type { invoices as spanish } from '../es/invoices.js';

export const invoices: typeof spanish = {
  title: 'Issued receipts',
  encf: 'e-NCF',
  buyer: 'Buyer',
  date: 'Issued',
  total: 'Total',
  status: 'Status',
  type: 'Type',
  reference: 'Reference',
  from: 'From',
  to: 'To',
  all: 'All',
  search: 'Search',
  buyerRnc: 'RNC of the buyer',
  clear: 'Clear filters',
  empty: 'No receipt matches these filters.',
  count: '{count, plural, one {# receipt} other {# receipts}}',
  next: 'Next',
  first: 'To the beginning',
  find: 'Go to e-NCF',
};
