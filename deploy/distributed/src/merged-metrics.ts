import { createHttpApp, type RunningServer, serve } from '@ecf/http';
import type { Logger } from '@ecf/kit/telemetry';

/** Address of the metrics of a process. */
export interface MetricsSource {
  name: string;
  metricsUrl: string;
}

/** Longer than a process waits for the brokers or its database before it answers its metrics. */
const TIMEOUT_MS = 4_000;

/**
 * Serves `GET /metrics` of all processes as one page, each sample with the label `process`. The page lacks a process that does not
 * answer, and `ecf_process_up` is 0 for it.
 */
export function serveMergedMetrics(
  sources: readonly MetricsSource[],
  options: { host: string; port: number; logger: Logger },
): Promise<RunningServer> {
  const app = createHttpApp({
    logger: options.logger,
    maxBodyBytes: 0,
    routes: (routes) => {
      routes.get('/metrics', async (_req, res) => {
        const pages = await Promise.all(sources.map(read));
        res.setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8');
        res.end(mergeMetrics(pages));
      });
    },
  });
  return serve(app, { host: options.host, port: options.port });
}

interface Page {
  name: string;
  /** null if the process did not answer. */
  text: string | null;
}

async function read({ name, metricsUrl }: MetricsSource): Promise<Page> {
  try {
    const response = await fetch(metricsUrl, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { name, text: response.ok ? await response.text() : null };
  } catch {
    return { name, text: null };
  }
}

/** Merges pages in Prometheus' text format: the samples of a metric follow one description. */
export function mergeMetrics(pages: readonly Page[]): string {
  const families = new Map<string, { comments: string[]; samples: string[] }>();
  for (const { name, text } of pages) {
    let family = { comments: [] as string[], samples: [] as string[] };
    for (const line of (text ?? '').split('\n')) {
      const comment = /^# (HELP|TYPE) (\S+)/.exec(line);
      if (comment !== null) {
        const metric = comment[2] as string;
        family = families.get(metric) ?? { comments: [], samples: [] };
        families.set(metric, family);
        if (!family.comments.some((one) => one.startsWith(`# ${comment[1]} `))) family.comments.push(line);
      } else if (line !== '' && !line.startsWith('#')) family.samples.push(labelled(line, name));
    }
  }
  const up = pages.map(({ name, text }) => `ecf_process_up{process="${name}"} ${text === null ? 0 : 1}`);
  const own = [
    '# HELP ecf_process_up Whether a process of the deployment answers',
    '# TYPE ecf_process_up gauge',
    ...up,
  ];
  const lines = [...families.values()].flatMap(({ comments, samples }) => [...comments, ...samples]);
  return `${[...own, ...lines].join('\n')}\n`;
}

function labelled(sample: string, process: string): string {
  const own = `process="${process}"`;
  const end = sample.search(/[{ ]/);
  return sample[end] === '{'
    ? `${sample.slice(0, end)}{${own}${sample[end + 1] === '}' ? '' : ','}${sample.slice(end + 1)}`
    : `${sample.slice(0, end)}{${own}}${sample.slice(end)}`;
}
