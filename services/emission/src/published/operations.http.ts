import type { EmissionOperations, FollowUpOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { EmissionStore } from '../attempt/ports.js';
import type { DocumentToken } from '../credentials/document-credentials.js';
import type { ObtainToken } from '../credentials/obtain-token.js';
import { withPublicErrors } from '../errors.http.js';
import { invoiceChanged, wholeInvoice } from './invoice-event.js';
import type { PublishedDocuments } from './published-documents.js';

/** Operations for other services, over HTTP or in the same process. Errors are public errors in both cases. */
export function internalOperations(parts: {
  published: PublishedDocuments;
  obtainToken: ObtainToken;
  emissions: Pick<EmissionStore, 'find' | 'sealedCertificate'>;
}): EmissionOperations {
  const { published, obtainToken, emissions } = parts;
  return {
    authorityToken: withPublicErrors(async ({ env, rnc, refused, ...identity }) => {
      const caller = accountCaller(identity);
      const { token, expires_in } = await obtainToken({ caller, env, issuerRnc: rnc, refused });
      return { token, expires_in };
    }),
    findInvoices: async ({ env, numbers, whole }) => {
      const keys = numbers.map(({ issuer_rnc, encf, run }) => ({ issuerRnc: issuer_rnc, encf, run }));
      const found = await published.find(env, keys);
      if (whole !== true) return { invoices: found.map(invoiceChanged) };
      return {
        invoices: await Promise.all(
          found.map(async (one) => wholeInvoice(await published.submissionHistory(one), one)),
        ),
      };
    },
    pageOfInvoices: async ({ after, limit }) => {
      const { attempts, next } = await published.page(after, limit);
      return { invoices: attempts.map(invoiceChanged), next };
    },
    sealedCertificate: async ({ env, issuer_rnc, encf, run }) => {
      const attempt = await emissions.find({ env, issuerRnc: issuer_rnc, encf, run });
      const sealed = attempt?.hasOwnCertificate ? await emissions.sealedCertificate(attempt) : null;
      return { sealed: sealed === null ? null : Buffer.from(sealed).toString('base64') };
    },
    rawAnswers: async ({ env, issuer_rnc, encf, run }) => {
      const exchanges = await published.exchanges({ env, issuerRnc: issuer_rnc, encf, run });
      return {
        answers: exchanges.map(({ attempt, operation, at, outcome, httpStatus, contentType, body }) => ({
          attempt,
          operation,
          at: toIsoDominican(at),
          outcome,
          http_status: httpStatus,
          content_type: contentType,
          body,
        })),
      };
    },
  };
}

/** Operations for the status poller, over HTTP or in the same process. */
export function followUpOperations(parts: {
  published: Pick<PublishedDocuments, 'findSubmission' | 'submissionHistory' | 'awaited'>;
  documentToken: DocumentToken;
}): FollowUpOperations {
  return {
    findSubmission: async ({ env, track_id }) => {
      const attempt = await parts.published.findSubmission(env, track_id);
      return {
        invoice: attempt === null ? null : wholeInvoice(await parts.published.submissionHistory(attempt), attempt),
      };
    },
    pageOfUndecided: async ({ after, limit }) => {
      const attempts = await parts.published.awaited(after, limit);
      const last = attempts.length < limit ? undefined : attempts.at(-1);
      return { invoices: attempts.map(invoiceChanged), next: last?.emissionId ?? null };
    },
    documentToken: withPublicErrors(async ({ env, issuer_rnc, encf, track_id, refused }) => {
      const key = { env, issuerRnc: issuer_rnc, encf };
      // Production has no certification runs.
      const named = env === 'eCF' ? undefined : track_id;
      const submitted = named === undefined ? null : await parts.published.findSubmission(env, named);
      return { token: await parts.documentToken(submitted ?? key, refused) };
    }),
  };
}
