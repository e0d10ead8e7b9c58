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

interface Recording {
  record: string;
  expr: string;
}

interface AlarmRule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const RULES = 'deploy/observability/alerts.yaml';

function readRules(root: string): (Recording | AlarmRule)[] {
  const file = parse(fs.readFileSync(path.join(root, RULES), 'utf8')) as {
    groups: { rules: (Recording | AlarmRule)[] }[];
  };
  return file.groups.flatMap(({ rules }) => rules);
}

/** The alarms. In their expressions, those of recording rules stand in place of their names. */
export function readAlarms(root: string): Alarm[] {
  const recorded = readRecordings(root);
  return readRules(root).flatMap((rule) =>
    'alert' in rule
      ? { name: rule.alert, expr: expanded(rule.expr, recorded), ...rule.labels, ...rule.annotations }
      : [],
  );
}

/** The expressions of the recording rules by name. */
function readRecordings(root: string): Map<string, string> {
  return new Map(readRules(root).flatMap((rule) => ('record' in rule ? [[rule.record, rule.expr] as const] : [])));
}

/** @throws Error if no rule records a name */
function expanded(expr: string, recorded: ReadonlyMap<string, string>): string {
  return expr.replaceAll(/\becf:[\w:]+/g, (name) => {
    const recording = recorded.get(name);
    if (recording === undefined) throw new Error(`no rule records ${name}`);
    return `(${recording})`;
  });
}

/** A test of promtool: the alarm that it is about, and whether it fires and is resolved. */
export function readAlarmTests(root: string): { alarm: string; fires: boolean; isResolved: boolean }[] {
  const file = parse(fs.readFileSync(path.join(root, 'deploy/observability/alerts.test.yaml'), 'utf8')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
  };
  return file.tests.map(({ alert_rule_test: cases }) => ({
    alarm: cases[0]?.alertname ?? '',
    fires: (cases[0]?.exp_alerts ?? []).length > 0,
    isResolved: cases.length > 1 && (cases.at(-1)?.exp_alerts ?? []).length === 0,
  }));
}

interface Board {
  title: string;
  panels: { title: string; targets: { expr: string }[] }[];
}

export function readDashboards(root: string): { file: string; title: string; exprs: string[] }[] {
  const folder = path.join(root, 'deploy/observability/dashboards');
  const recorded = readRecordings(root);
  return fs.readdirSync(folder).map((file) => {
    const board = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')) as Board;
    return {
      file,
      title: board.title,
      exprs: board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expanded(expr, recorded))),
    };
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
