import { general } from './general.js';
import { invoice } from './invoice.js';
import { invoices } from './invoices.js';
import { overview } from './overview.js';
import { received } from './received.js';

/** The words of the console in Spanish, by page. */
export const es = { ...general, invoice, invoices, overview, received };
