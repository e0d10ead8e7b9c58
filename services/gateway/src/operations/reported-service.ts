import type { DeploymentStateBody, GaugeValue, ReportedService, ServiceName } from '@ecf/contracts';

type Software = Pick<ReportedService, 'version' | 'node' | 'postgres' | 'migration'>;

/** A service with its versions, and with the clocks and the disk that its gauges report. */
export function reportedService(
  service: ServiceName,
  software: Software,
  gauges: readonly GaugeValue[],
): ReportedService {
  const bytes = (name: string) =>
    gauges.find((gauge) => gauge.name === name && gauge.labels.service === service)?.value ?? null;
  const free = bytes('ecf_storage_free_bytes');
  const floor = bytes('ecf_storage_floor_bytes');
  return {
    service,
    ...software,
    clocks: gauges.flatMap(({ name, labels, value }) =>
      name === 'ecf_clock_skew_seconds' ? { against: labels.against ?? '', seconds_ahead: value } : [],
    ),
    storage: free === null || floor === null ? null : { free_bytes: free, floor_bytes: floor },
  };
}

/** The documents of today, and whether the authority can be reached, by the gauges of the query and the emission service. */
export function overviewOf(gauges: readonly GaugeValue[]): Pick<DeploymentStateBody, 'documents_today' | 'authority'> {
  const named = (wanted: string) => gauges.filter(({ name }) => name === wanted);
  type Count = DeploymentStateBody['documents_today'][number];
  return {
    documents_today: named('ecf_documents_today').map(({ labels, value }) => ({
      env: labels.env as Count['env'],
      status: labels.status as Count['status'],
      count: value,
    })),
    authority: named('ecf_authority_reachable').map(({ labels, value }) => ({
      env: labels.env as Count['env'],
      reachable: value === 1,
    })),
  };
}
