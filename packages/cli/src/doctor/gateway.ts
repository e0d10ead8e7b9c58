import type { DeploymentStateBody, QueueBody, ReportedService } from '@ecf/contracts';
import type { GatewayAdmin } from '../gateway-admin.js';
import { gibibytes, labelled } from '../terminal.js';
import { serviceClocks } from './clocks.js';
import { type Finding, fault, ok, reasonOf } from './finding.js';

const READY_MS = 10_000;

/** `GET /health/ready` of the gateway. */
export async function checkHealth(url: string): Promise<Finding> {
  try {
    const response = await fetch(new URL('/health/ready', url), { signal: AbortSignal.timeout(READY_MS) });
    const { checks = {} } = (await response.json()) as { checks?: Record<string, string> };
    const failed = Object.entries(checks).flatMap(([name, state]) => (state === 'ok' ? [] : [`${name} (${state})`]));
    if (response.ok && failed.length === 0) return ok('connections', 'gateway', `${url} is ready`);
    const remedy = 'Remove the cause; the log of the gateway has the reason.';
    return fault('connections', 'gateway', `${url} answers ${response.status}: ${failed.join(', ')}`, remedy);
  } catch (error) {
    const cause = (error as { cause?: unknown }).cause ?? error;
    const remedy = 'Start the gateway, or correct ECF_URL.';
    return fault('connections', 'gateway', `${url}: ${reasonOf(cause)}`, remedy);
  }
}

/** What the services say about themselves. */
export async function checkDeployment(admin: GatewayAdmin): Promise<Finding[]> {
  const { unreachable, services, alarms, queues } = (await admin.call('GET', '/admin/state')) as DeploymentStateBody;
  return [
    ...(unreachable.length > 0
      ? [
          fault(
            'connections',
            'services',
            `no answer from ${unreachable.join(', ')}`,
            'Start them; their logs have the reason why they ended (runbooks/processes.md).',
          ),
        ]
      : [ok('connections', 'services', `${services.length} answer`)]),
    ...serviceClocks(services),
    ...versions(services),
    ...services.flatMap(storage),
    events(queues),
    ...(alarms.length === 0 ? [ok('lag', 'alarms', 'none fires')] : []),
    ...alarms.map(({ alarm, labels, value, limit, runbook }) =>
      fault('lag', alarm, `${labelled(labels)}${value}, limit ${limit}`, `Read ${runbook}.`),
    ),
  ];
}

/** One finding if all services agree, else one for each version. */
function versions(services: readonly ReportedService[]): Finding[] {
  const different = (subject: string, of: (service: ReportedService) => string | null, remedy: string): Finding => {
    const found = [...new Set(services.map((service) => of(service) ?? 'unknown'))];
    const [only = 'unknown'] = found;
    if (found.length === 1 && only !== 'unknown') return ok('versions', subject, only);
    const names = (version: string) =>
      services.flatMap((service) => ((of(service) ?? 'unknown') === version ? service.service : []));
    return fault('versions', subject, found.map((each) => `${each} (${names(each).join(', ')})`).join('; '), remedy);
  };
  return [
    different('product', ({ version }) => version, 'Replace the services of the older version.'),
    different('Node of services', ({ node }) => node, 'Run all services on the same version of Node.'),
    different(
      'PostgreSQL',
      ({ postgres }) => postgres,
      'Start the databases that do not answer, or bring them to one version.',
    ),
  ];
}

function storage({ service, storage: disk }: ReportedService): Finding[] {
  if (disk === null) return [];
  const detail = `${gibibytes(disk.free_bytes)} free, refuses documents below ${gibibytes(disk.floor_bytes)}`;
  // The alarm EcfStorageLow has the same limit.
  if (disk.free_bytes >= 4 * disk.floor_bytes) return [ok('disk', service, detail)];
  return [fault('disk', service, detail, 'Make room on the disk or enlarge it (runbooks/storage.md#ecfstoragelow).')];
}

function events(queues: readonly QueueBody[]): Finding {
  const waiting = (name: QueueBody['queue']) => queues.find(({ queue }) => queue === name)?.waiting ?? 0;
  const detail = `${waiting('unpublished_events')} are not published, ${waiting('unhandled_events')} not handled`;
  return ok('lag', 'events', detail);
}
