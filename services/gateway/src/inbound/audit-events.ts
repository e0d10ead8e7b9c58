import { type AuditAct, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { AuditLog } from '../core/ports.js';

/** The consumer group of the gateway. */
const GATEWAY_GROUP = 'gateway';

/** Appends what administrators did in other services to the audit log, each act once. */
export function subscribeToActs(bus: Bus, audit: Pick<AuditLog, 'appendOnce'>): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.audit.name],
    group: GATEWAY_GROUP,
    handler: ({ id, data }) => audit.appendOnce(GATEWAY_GROUP, id, data as AuditAct),
  });
}
