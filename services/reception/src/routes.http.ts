import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  MASTER_KEY_OPERATIONS,
  type MasterKeyOperations,
  RECEPTION_OPERATIONS,
  type ReceptionOperations,
} from '@ecf/contracts';
import { createServiceApp, internalOperationRoutes, type ServiceAppOptions, type ServiceRoute } from '@ecf/http';
import { withPlainPublicPath } from '@ecf/public-ingress';
import type { Express } from 'express';
import { mapErrors, toAnswer } from './errors.http.js';
import { ReceptionError } from './errors.js';
import { listings } from './listings/listings.http.js';
import type { ListedDocument, ListingStore } from './listings/ports.js';
import type { QueryReceived } from './listings/query-received.js';
import { type AcknowledgeParts, acknowledge } from './receive/receive.http.js';
import { receivedInvoiceChanged } from './receive/received-events.js';
import { type AuthenticateParts, issueSeed, validateSeed } from './tokens/authentication.http.js';
import type { ProviderTokens } from './tokens/provider-tokens.js';

/**
 * Every route except the internal operations (`RECEPTION_OPERATIONS`). Public ones are found also with an
 * environment before them and with the accent of the official text. Literal paths come before `:encf`.
 */
function routeTable(parts: ReceptionHttpParts): readonly ServiceRoute[] {
  const list = listings(parts.query);
  return [
    ['post', '/fe/recepcion/api/ecf', 'public', acknowledge(parts)],
    ['get', '/fe/autenticacion/api/semilla', 'public', issueSeed(parts)],
    ['post', '/fe/autenticacion/api/validacioncertificado', 'public', validateSeed(parts)],
    ['get', '/fe/recepcion/api/invoices', 'account', list.fromProvider],
    ['get', '/fe/recepcion/api/invoices/all', 'account', list.all],
    ['get', '/fe/recepcion/api/invoices/count', 'account', list.count],
    ['get', '/fe/recepcion/api/invoices/aggregate', 'account', list.aggregate],
    ['get', '/fe/recepcion/api/invoices/:encf', 'account', list.one],
    ['get', '/fe/recepcion/api/invoices/:encf/document', 'account', list.document],
    ['get', '/fe/recepcion/api/invoices/:encf/pdf', 'account', list.pdf],
    ['get', '/arecf/:encf', 'account', list.acknowledgement],
  ];
}

export interface ReceptionHttpParts extends Omit<AcknowledgeParts, 'tokens'>, Omit<AuthenticateParts, 'tokens'> {
  readonly tokens: ProviderTokens;
  readonly query: QueryReceived;
  readonly internal: ReceptionOperations;
  readonly stored: ArchiveOperations;
  readonly masterKeys: MasterKeyOperations;
}

/** The service's express app. */
export function createReceptionApp(parts: ReceptionHttpParts, options: ServiceAppOptions): Express {
  return createServiceApp(options, {
    readdress: withPlainPublicPath,
    routes: routeTable(parts),
    internal: [
      internalOperationRoutes(RECEPTION_OPERATIONS, parts.internal, options.identities),
      internalOperationRoutes(ARCHIVE_OPERATIONS, parts.stored, options.identities),
      internalOperationRoutes(MASTER_KEY_OPERATIONS, parts.masterKeys, options.identities),
    ],
    mapErrors,
  });
}

/** The internal operations of reception: received documents and senders, over HTTP or in the same process. */
export function receptionOperations(
  listings: Pick<ListingStore, 'byNumber' | 'page'>,
  tokens: Pick<ProviderTokens, 'verify'>,
): ReceptionOperations {
  return {
    async findReceived({ env, buyer_rncs, issuer_rnc, encf }) {
      const found = await listings.byNumber({ env, buyerRncs: buyer_rncs, issuerRnc: issuer_rnc, encf });
      return { received: found.map(published) };
    },
    async pageOfReceived({ after, limit }) {
      const found = await listings.page(after, limit);
      const last = found.length < limit ? undefined : found.at(-1);
      return { received: found.map(published), next: last?.id ?? null };
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

function published(document: ListedDocument) {
  return receivedInvoiceChanged(document, document.conflicts);
}
