/** The services of the system. */
export const SERVICE_NAMES = ['gateway', 'emission', 'status-poller', 'reception', 'approvals', 'query'] as const;

export type ServiceName = (typeof SERVICE_NAMES)[number];
