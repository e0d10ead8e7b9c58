import { deadLetterOperations } from '@ecf/bus';
import type { StateOperations } from '@ecf/contracts';
import type { Metrics } from '@ecf/kit/telemetry';
import type { Database } from '@ecf/postgres';

/** What a service says about its part of the deployment: its gauges and its dead letters. */
export function createServiceState(
  database: Pick<Database, 'query'>,
  metrics: Pick<Metrics, 'gauges'>,
): StateOperations {
  return { gauges: async () => ({ gauges: await metrics.gauges() }), ...deadLetterOperations(database) };
}
