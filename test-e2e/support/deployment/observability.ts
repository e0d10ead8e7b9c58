import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export interface Alarm {
  name: string;
  expr: string;
  severity: string;
  summary: string;
  /** Path of its runbook from the root of the repository. */
  runbook: string;
}

interface RuleFile {
  groups: {
    rules: {
      alert: string;
      expr: string;
      labels: { severity: string };
      annotations: { summary: string; runbook: string };
    }[];
  }[];
}

export function readAlarms(root: string): Alarm[] {
  const file = parse(fs.readFileSync(path.join(root, 'deploy/observability/alerts.yaml'), 'utf8')) as RuleFile;
  return file.groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, expr, labels, annotations }) => ({ name: alert, expr, ...labels, ...annotations }));
}

interface Board {
  title: string;
  panels: { title: string; targets: { expr: string }[] }[];
}

export function readDashboards(root: string): { file: string; title: string; exprs: string[] }[] {
  const folder = path.join(root, 'deploy/observability/dashboards');
  return fs.readdirSync(folder).map((file) => {
    const board = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')) as Board;
    return { file, title: board.title, exprs: board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)) };
  });
}

const LABELS = new Set(['ecf_type']);

/** The metrics of this product that the sources of packages and services define. */
export function definedMetrics(root: string): Set<string> {
  const sources = ['packages', 'services'].flatMap((place) =>
    fs.readdirSync(path.join(root, place)).flatMap((name) => filesUnder(path.join(root, place, name, 'src'))),
  );
  const names = sources.flatMap((file) => fs.readFileSync(file, 'utf8').match(/(?<=\bname: ')ecf_\w+(?=')/g) ?? []);
  return new Set(names);
}

function filesUnder(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('generated'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** The metrics in a PromQL expression, without the endings of histograms. */
export function metricsOf(expr: string): string[] {
  const names = expr.match(/\b(ecf|process|nodejs)_\w+/g) ?? [];
  return names.filter((name) => !LABELS.has(name)).map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}

/**
 * Gauges about one process. Every other gauge is read from the service's database or the brokers, so each instance
 * reports the same number.
 */
const OF_ONE_PROCESS = new Set([
  'ecf_authority_reachable',
  'ecf_consumer_connected',
  'ecf_delivery_receivers_paused',
  'ecf_reception_in_flight_requests',
  'ecf_shared_cache_up',
]);

/** The gauges that an expression sums over instances although each instance reports the same number. */
export function addedUpOverInstances(expr: string): string[] {
  const summed = [...expr.matchAll(/\bsum\s*(?:(?:by|without)\s*\([^)]*\)\s*)?\(\s*(\w+)/g)].map(
    (match) => match[1] as string,
  );
  return summed.filter((name) => !['rate', 'increase'].includes(name) && !OF_ONE_PROCESS.has(name));
}
