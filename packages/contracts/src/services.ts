/** The services of the system. */
export const SERVICE_NAMES = ['gateway', 'emission', 'status-poller', 'reception', 'approvals', 'query'] as const;

export type ServiceName = (typeof SERVICE_NAMES)[number];

/** The name of a service as part of the names of its database and its users: `status_poller`. */
export function identifierOf(service: string): string {
  return service.replaceAll('-', '_');
}

/** The name of a service at the beginning of the names of variables: `STATUS_POLLER`. */
export function variablePrefix(service: string): string {
  return identifierOf(service).toUpperCase();
}
