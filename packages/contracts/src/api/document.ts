import { z } from 'zod';
import { referenceSchema } from '../environment.js';

/** The elements of a document by the authority's names. The rules of each element are in the catalogue, not here. */
const elementsSchema = z.looseObject({});

/** An invoice in JSON, as it is submitted and as it is read back. */
export const invoiceDocumentSchema = z
  .object({ ECF: elementsSchema.meta({ description: 'The elements of the document: Encabezado, DetallesItems, ...' }) })
  .meta({
    description:
      'An invoice under its root ECF, with the names and the nesting of the authority (reference: docs/rules.md). Values are text. Amounts, quantities and percentages may be numbers; RNC, codes, dates and telephone numbers may not, because a number loses its leading zeros. Dates are DD-MM-YYYY.',
  });

/** A line of a batch. */
export const batchDocumentSchema = invoiceDocumentSchema
  .extend({
    reference: referenceSchema
      .optional()
      .meta({ description: 'The reference of the document in your own system; it need not be unique' }),
  })
  .meta({ description: 'An invoice of a batch' });

/** An issued document that is read back. */
export const issuedDocumentSchema = z
  .object({
    ECF: elementsSchema.optional().meta({ description: 'The elements of the e-CF' }),
    RFCE: elementsSchema
      .optional()
      .meta({ description: 'The elements of the summary, if only a signed summary was submitted' }),
  })
  .meta({ description: 'Either ECF or RFCE' });
