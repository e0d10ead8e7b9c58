import { describeConsole } from '../../support/console.js';
import { batches } from './batches.js';
import { cancellations } from './cancellations.js';
import { newInvoice } from './new-invoice.js';
import { received } from './received.js';

// The last two register ranges, which exclude the numbers of the others.
describeConsole(received, cancellations, newInvoice, batches);
