import { type AuthorityClient, createTokenProvider, inMemoryTokenCache, type TokenCache } from '@ecf/authority-client';
import type { SealingKeys } from '@ecf/kit';
import { openSharedCache } from '@ecf/kit/cache';
import type { ServiceDependencies } from '@ecf/service';
import { createCertificateFiles } from '@ecf/taxpayer-replica/certificate-files';
import type { EmissionStore, Observer } from '../attempt/ports.js';
import type { EmissionConfig } from '../config.js';
import { createCertificates } from './certificates.js';
import {
  createRetryingCertificateUses,
  createRetryingTaxpayerReplica,
  gatewayAccounts,
} from './credentials.postgres.js';
import { createDocumentTokens } from './document-credentials.js';
import { createObtainToken } from './obtain-token.js';
import type { AccountSource } from './ports.js';
import { createTaxpayers } from './taxpayers.js';

export type Credentials = ReturnType<typeof createCredentials>;

/** The taxpayers, their certificates, and the tokens that the authority gives for a certificate. */
export function createCredentials(
  config: EmissionConfig,
  parts: ServiceDependencies,
  {
    client,
    sealingKeys,
    emissions,
    observer,
    accounts = gatewayAccounts(config, parts.identities),
    tokenCache,
  }: {
    readonly client: AuthorityClient;
    readonly sealingKeys: SealingKeys;
    readonly emissions: EmissionStore;
    readonly observer: Observer;
    /** By default the gateway. */
    readonly accounts: AccountSource | undefined;
    /** By default Redis if it is set, else the memory of this process. */
    readonly tokenCache: TokenCache | undefined;
  },
) {
  const { database, clock, logger, metrics, watchQueue } = parts;
  const replica = createRetryingTaxpayerReplica(database, config.DATABASE_WAIT_MS);
  const recordUse = createRetryingCertificateUses(parts, config.DATABASE_WAIT_MS);
  const sharedCache = openSharedCache(config, { sealingKeys, logger, metrics });
  const tokens = createTokenProvider({
    client,
    cache: tokenCache ?? sharedCache ?? inMemoryTokenCache(clock),
    beforeLogin: (login) => recordUse({ ...login, use: 'login' }),
    clock,
  });
  const files = createCertificateFiles(watchQueue);
  const taxpayers = createTaxpayers(replica, accounts);
  const certificates = createCertificates(sealingKeys, clock, files.open);
  return {
    replica,
    taxpayers,
    certificates,
    tokens,
    recordUse,
    documentTokens: createDocumentTokens({ emissions, observer, clock, tokens, taxpayers, certificates }),
    obtainToken: createObtainToken(tokens, taxpayers, certificates),
    async close() {
      await files.close();
      await sharedCache?.close();
    },
  };
}
