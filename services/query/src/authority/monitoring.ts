import type { MonitoringStatus } from '@ecf/contracts';
import { type Environment, toIsoDominican } from '@ecf/domain';
import { QueryError } from '../errors.js';
import { verdictOf } from './authority-query.js';
import type { Authority } from './ports.js';

/**
 * `GET /monitoring/status`: the present answer of the authority's status service. `available` is about the requested
 * environment: false inside a maintenance window. Services and windows cover all environments, with the authority's
 * names.
 */
export function createMonitoring(
  authority: Pick<Authority, 'environmentStatus' | 'serviceStatus' | 'maintenanceWindows'>,
  statusKey: string | null,
  clock: () => Date,
): (env: Environment) => Promise<MonitoringStatus> {
  return async (env) => {
    if (statusKey === null) {
      throw new QueryError(
        'status_key_missing',
        'This deployment has no key for the authority’s status service; configure STATUS_KEY.',
      );
    }
    const request = { env, statusKey };
    const [environment, services, windows] = await Promise.all([
      authority.environmentStatus(request),
      authority.serviceStatus(request),
      authority.maintenanceWindows(request),
    ]);
    const { available } = verdictOf(environment);
    return {
      env,
      available,
      services: verdictOf(services).map(({ service, available: up, environment: where }) => ({
        service,
        status: up ? 'available' : 'unavailable',
        environment: where,
      })),
      maintenance_windows: verdictOf(windows).map(({ environment: where, startTime, endTime, days }) => ({
        environment: where,
        start_time: startTime,
        end_time: endTime,
        days,
      })),
      checked_at: toIsoDominican(clock()),
    };
  };
}
