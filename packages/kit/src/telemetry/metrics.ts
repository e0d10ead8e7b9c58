import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

type Labels<L extends string> = { name: string; help: string; labels?: readonly L[] };

/** Values of gauges, one for each set of labels. */
type Gauges = { name: string; labels: Record<string, string>; value: number }[];

/** Metrics of a process. A second call with the same name returns the same metric, so that services of one process share it. */
export interface Metrics {
  counter<L extends string>(options: Labels<L>): Counter<L>;
  gauge<L extends string>(options: Labels<L>): Gauge<L>;
  histogram<L extends string>(options: Labels<L> & { buckets?: number[] }): Histogram<L>;
  /** Runs `refresh` before every {@link Metrics.render}, for values that are looked up. Returns the function that ends this. */
  onRender(refresh: () => Promise<void>): () => void;
  /** The present gauges of this product, after a refresh. Simultaneous calls share one reading. */
  gauges(): Promise<Gauges>;
  /** Everything in Prometheus' text format. A refresh that fails leaves its values as they were. */
  render(): Promise<string>;
  registry: Registry;
}

/** The event loop is sampled this often. Every 10 ms, the default, takes a quarter of an idle gateway's processor time. */
const EVENT_LOOP_SAMPLE_MS = 50;

/** Creates a registry; with `processMetrics`, memory, CPU and event loop of the process are in it. */
export function createMetrics(options: { processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics === true)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  const shared = { registers: [registry] };
  const refreshers = new Set<() => Promise<void>>();
  const refreshed = () => Promise.allSettled([...refreshers].map((refresh) => refresh()));
  let reading: Promise<Gauges> | null = null;

  async function readGauges(): Promise<Gauges> {
    await refreshed();
    const all = await registry.getMetricsAsJSON();
    // prom-client states the types of metrics as text at run time, though its types say numbers.
    const own = all.filter(({ name, type }) => String(type) === 'gauge' && name.startsWith('ecf_'));
    return own.flatMap(({ name, values }) =>
      values.map(({ labels, value }) => ({ name, labels: labels as Record<string, string>, value })),
    );
  }

  return {
    registry,
    onRender(refresh) {
      refreshers.add(refresh);
      return () => refreshers.delete(refresh);
    },
    async render() {
      await refreshed();
      return registry.metrics();
    },
    gauges() {
      reading ??= readGauges().finally(() => {
        reading = null;
      });
      return reading;
    },
    counter: <L extends string>({ name, help, labels = [] }: Labels<L>) =>
      (registry.getSingleMetric(name) as Counter<L> | undefined) ??
      new Counter({ name, help, labelNames: labels, ...shared }),
    gauge: <L extends string>({ name, help, labels = [] }: Labels<L>) =>
      (registry.getSingleMetric(name) as Gauge<L> | undefined) ??
      new Gauge({ name, help, labelNames: labels, ...shared }),
    histogram: <L extends string>({ name, help, labels = [], buckets }: Labels<L> & { buckets?: number[] }) =>
      (registry.getSingleMetric(name) as Histogram<L> | undefined) ??
      new Histogram({ name, help, labelNames: labels, ...(buckets === undefined ? {} : { buckets }), ...shared }),
  };
}
