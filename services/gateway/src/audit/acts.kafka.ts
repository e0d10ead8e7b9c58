import type { Bus, Subscription } from '@ecf/bus';
import { EventError } from '@ecf/bus/events';
import { mayReport, type ReportedAct, TOPICS } from '@ecf/contracts';
import type { ActProofs } from './act-proofs.js';
import type { AuditLog } from './ports.js';

/** The consumer group of the gateway. */
const GATEWAY_GROUP = 'gateway';

/**
 * Appends the acts that other services report to the audit log, each once. Only its publishers can write the topic. An act
 * that the named service may not report becomes a dead letter.
 */
export function subscribeToActs(
  bus: Bus,
  audit: Pick<AuditLog, 'appendOnce'>,
  proofs: Pick<ActProofs, 'isProven'>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.audit.name],
    group: GATEWAY_GROUP,
    handler: async ({ id, source, data }) => {
      const { proof, ...act } = data as ReportedAct;
      const isOwn = act.actor === `service:${source}` || proofs.isProven({ ...act, proof });
      if (!isOwn || !mayReport(source, act))
        throw new EventError(`${source} may not report ${act.action} of ${act.actor} to the audit log`);
      await audit.appendOnce(GATEWAY_GROUP, id, act);
    },
  });
}
