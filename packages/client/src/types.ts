import type { components } from './generated/openapi.js';

type Schemas = components['schemas'];

export type Environment = Schemas['Environment'];
/** A document in JSON, as it is submitted. */
export type InvoiceDocument = Schemas['InvoiceDocument'];
/** A document of a batch, which may state its own `reference`. */
export type BatchDocument = Schemas['BatchDocument'];
/** The answer to a submission. */
export type Submission = Schemas['SubmissionResponse'];
/** A submitted document as it is stored. */
export type Invoice = Schemas['Invoice'];
/** A document that a provider sent. */
export type ReceivedInvoice = Schemas['ReceivedInvoice'];
export type Batch = Schemas['Batch'];
/** The outcome of a line of a batch. */
export type BatchResult = Schemas['BatchResult'];
/** What happened to a document, batch, range or certificate. A newer gateway may send further types. */
export type Event = Schemas['Event'];
export type ErrorBody = Schemas['ErrorBody'];
/** What is wrong in a document, and by which rule. */
export type Fault = Schemas['Fault'];
/** A place of a request that is missing or malformed. */
export type ValidationItem = Schemas['ValidationItem'];
