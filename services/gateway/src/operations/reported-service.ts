import type { GaugeValue, ReportedService, ServiceName } from '@ecf/contracts';

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
