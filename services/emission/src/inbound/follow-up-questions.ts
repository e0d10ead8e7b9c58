import type { FollowUpOperations } from '@ecf/contracts';
import type { DocumentToken } from '../core/document-token.js';
import { invoiceChanged } from '../core/invoice-event.js';
import type { ToldDocuments } from '../core/told-documents.js';
import { refusing } from './internal.js';

/** What those ask who follow documents up, over HTTP or in the same process. */
export function followUpOperations(parts: {
  told: Pick<ToldDocuments, 'findSubmission'>;
  documentToken: DocumentToken;
}): FollowUpOperations {
  return {
    findSubmission: async ({ env, track_id }) => {
      const attempt = await parts.told.findSubmission(env, track_id);
      return { invoice: attempt === null ? null : invoiceChanged(attempt) };
    },
    documentToken: refusing(async ({ env, issuer_rnc, encf, refused }) => ({
      token: await parts.documentToken({ env, issuerRnc: issuer_rnc, encf }, refused),
    })),
  };
}
