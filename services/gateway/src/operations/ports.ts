import type {
  ArchiveOperations,
  ArchivingService,
  DeliveryOperations,
  MasterKeyOperations,
  QueryOperations,
  ResolutionOperations,
  SealingService,
  ServiceName,
  StateOperations,
  WebhookOperations,
} from '@ecf/contracts';
import { ApiError } from '@ecf/kit';

/** What other services do for the administration; null if a service is not part of the deployment. */
export interface ServiceOperations {
  readonly resolution: ResolutionOperations | null;
  readonly deliveries: DeliveryOperations | null;
  readonly readModels: QueryOperations | null;
  readonly webhooks: WebhookOperations | null;
  readonly archive: Readonly<Partial<Record<ArchivingService, ArchiveOperations>>>;
  /** What each service says about its part of the deployment. */
  readonly state: Readonly<Partial<Record<ServiceName, StateOperations>>>;
  /** Operations of the services that keep sealed values. */
  readonly masterKeys: Readonly<Partial<Record<SealingService, MasterKeyOperations>>>;
}

/** The operations of a service, or 503 if it is not part of the deployment. */
export function present<T>(operations: T | null, name: string): T {
  if (operations === null)
    throw new ApiError(503, 'service_unavailable', `The service ${name} is not part of this deployment.`);
  return operations;
}
