import type { es } from '../es/index.js';
import { general } from './general.js';
import { invoice } from './invoice.js';
import { invoices } from './invoices.js';
import { overview } from './overview.js';
import { received } from './received.js';

/** The words of the console in English, by page. */
export const en: typeof es = { ...general, invoice, invoices, overview, received };
