import type { ReceptionOperations } from '@ecf/contracts';
import { toAnswer } from './errors.http.js';
import { ReceptionError } from './errors.js';
import type { ListedDocument, ListingStore } from './listings/ports.js';
import { receivedInvoiceChanged } from './receive/received-document.js';
import type { ProviderTokens } from './tokens/provider-tokens.js';

/** The internal operations of reception: received documents and senders, over HTTP or in the same process. */
export function receptionOperations(
  documents: Pick<ListingStore, 'byNumber' | 'page'>,
  tokens: Pick<ProviderTokens, 'verify'>,
): ReceptionOperations {
  return {
    async findReceived({ env, buyer_rncs, issuer_rnc, encf }) {
      const found = await documents.byNumber({ env, buyerRncs: buyer_rncs, issuerRnc: issuer_rnc, encf });
      return { received: found.map(published) };
    },
    async pageOfReceived({ after, limit }) {
      const found = await documents.page(after, limit);
      const last = found.length < limit ? undefined : found.at(-1);
      return { received: found.map(published), next: last?.document.id ?? null };
    },
    async verifyProviderToken({ env, authorization }) {
      try {
        return { holder: await tokens.verify(authorization ?? undefined, env) };
      } catch (error) {
        if (error instanceof ReceptionError && error.code === 'token_refused') return { holder: null };
        throw toAnswer(error);
      }
    },
  };
}

function published({ document, conflicts }: ListedDocument) {
  return receivedInvoiceChanged(
    document,
    conflicts.map(({ conflict }) => conflict),
  );
}
