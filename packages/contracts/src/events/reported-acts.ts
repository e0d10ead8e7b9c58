import type { AuditAct } from '../api/admin/audit.js';
import type { ServiceName } from '../services.js';

/** An action that services report to the audit log by `audit.v1`. */
interface ReportedAction {
  /** The services that carry it out. No other service may report it. */
  readonly services: readonly ServiceName[];
  /**
   * `service`: the actor is the reporting service. `administrator`: an administrator, with the gateway's proof of the request.
   * `manager`: an administrator or an API key with the scope `manage`, with that proof.
   */
  readonly actor: 'service' | 'administrator' | 'manager';
}

/** Every action that a service may report. The gateway records its own actions itself. */
export const REPORTED_ACTIONS: Readonly<Record<string, ReportedAction>> = {
  'certificate.use': { services: ['emission', 'reception', 'approvals'], actor: 'service' },
  'document.resolve': { services: ['emission'], actor: 'administrator' },
  'cancellation.settle': { services: ['emission'], actor: 'administrator' },
  'run.start': { services: ['emission'], actor: 'manager' },
  'delivery.retry': { services: ['approvals'], actor: 'administrator' },
  'approval.settle': { services: ['approvals'], actor: 'administrator' },
  'approval.retry': { services: ['approvals'], actor: 'administrator' },
  'approval.decide': { services: ['approvals'], actor: 'administrator' },
};

/** Actors that are not administrators. */
const NOT_AN_ADMINISTRATOR = /^(service|api_key|sender):/;

/** Whether a service may report the act: an action that it carries out, by an actor that it may name. */
export function mayReport(service: string, { action, actor }: Pick<AuditAct, 'action' | 'actor'>): boolean {
  const reported = Object.hasOwn(REPORTED_ACTIONS, action) ? REPORTED_ACTIONS[action] : undefined;
  if (reported === undefined || !reported.services.some((name) => name === service)) return false;
  if (reported.actor === 'service') return actor === `service:${service}`;
  return !NOT_AN_ADMINISTRATOR.test(actor) || (reported.actor === 'manager' && actor.startsWith('api_key:'));
}
