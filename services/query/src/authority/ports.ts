import type { AuthorityClient } from '@ecf/authority-client';
import type { EmissionOperations } from '@ecf/contracts';

export type Authority = Pick<
  AuthorityClient,
  | 'queryConsumerSummary'
  | 'queryState'
  | 'listDirectory'
  | 'findInDirectory'
  | 'serviceStatus'
  | 'maintenanceWindows'
  | 'environmentStatus'
>;

/** The authority's tokens. Only emission holds certificates, so it gives them. */
export type TokenSource = Pick<EmissionOperations, 'authorityToken'>;
