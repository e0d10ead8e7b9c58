import type { Ports } from '../ports.js';
import type { Attempt } from './attempt.js';
import { moved } from './moves.js';
import { recordOnce } from './record.js';

/**
 * Takes an attempt into this instance's care for one step. Null where it changed since it was read: then somebody else is
 * at it, who may be the background of this very process, so the name of the owner tells nothing.
 */
export function claim(
  ports: Pick<Ports, 'emissions' | 'observer' | 'clock' | 'owner' | 'settings'>,
  attempt: Attempt,
): Promise<Attempt | null> {
  const until = new Date(ports.clock().getTime() + ports.settings.leaseMs);
  return recordOnce(ports, attempt, moved(attempt, null, { owner: ports.owner, nextActionAt: until }));
}
