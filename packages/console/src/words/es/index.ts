import { admin } from './admin.js';
import { batches } from './batches.js';
import { cancellations } from './cancellations.js';
import { contingency } from './contingency.js';
import { deliveries } from './deliveries.js';
import { events } from './events.js';
import { general } from './general.js';
import { invoice } from './invoice.js';
import { invoices } from './invoices.js';
import { newInvoice } from './new-invoice.js';
import { overview } from './overview.js';
import { received } from './received.js';
import { remedies } from './remedies.js';
import { settings } from './settings.js';
import { totals } from './totals.js';

/** The words of the console in Spanish, by page. */
export const es = {
  ...general,
  admin,
  batches,
  cancellations,
  contingency,
  deliveries,
  events,
  invoice,
  invoices,
  newInvoice,
  overview,
  received,
  remedies,
  settings,
  totals,
};
