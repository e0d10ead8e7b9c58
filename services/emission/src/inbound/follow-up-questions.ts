import type { FollowUpOperations } from '@ecf/contracts';
import type { DocumentToken } from '../core/credentials/document-token.js';
import { invoiceChanged, wholeInvoice } from '../core/published/invoice-event.js';
import type { ToldDocuments } from '../core/published/told-documents.js';
import { refusing } from './internal.js';

/** What those ask who follow documents up, over HTTP or in the same process. */
export function followUpOperations(parts: {
  told: Pick<ToldDocuments, 'findSubmission' | 'wholePast' | 'awaited'>;
  documentToken: DocumentToken;
}): FollowUpOperations {
  return {
    findSubmission: async ({ env, track_id }) => {
      const attempt = await parts.told.findSubmission(env, track_id);
      return { invoice: attempt === null ? null : wholeInvoice(await parts.told.wholePast(attempt), attempt) };
    },
    pageOfUndecided: async ({ after, limit }) => {
      const attempts = await parts.told.awaited(after, limit);
      const last = attempts.length < limit ? undefined : attempts.at(-1);
      return { invoices: attempts.map(invoiceChanged), next: last?.emissionId ?? null };
    },
    documentToken: refusing(async ({ env, issuer_rnc, encf, refused }) => ({
      token: await parts.documentToken({ env, issuerRnc: issuer_rnc, encf }, refused),
    })),
  };
}
