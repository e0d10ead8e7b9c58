import { SERVICE_NAMES } from '@ecf/contracts';
import type { Measured, Run } from './measured.js';

export const SERVERS = ['postgresql', 'kafka', 'redis'];

/** The documents that are planned for. */
export interface Form {
  lines: number;
  /** Documents received from providers, and as many delivered to buyers, for each issued document. */
  receivedShare: number;
}

/** What one issued document costs, with its share of received ones. */
export interface Costs {
  /** Milliseconds of processor time of a service or server, without what it uses while idle. */
  ms: Record<string, number>;
  /** The same on the thread that runs JavaScript. */
  mainMs: Record<string, number>;
  /** Milliseconds on the main thread of the one instance that publishes the service's events. */
  publisherMs: Record<string, number>;
  /** Milliseconds a second of an idle instance, or of a server beside one instance of each service. */
  idleMs: Record<string, number>;
  /** What a further instance of each service adds to that, of all instances of a service and of a server. */
  moreIdleMs: Record<string, number>;
  /** Of PostgreSQL, by database. */
  postgresMs: Record<string, number>;
  tables: Record<string, number>;
  topics: Record<string, number>;
  archive: { bytes: number; objects: number };
  wal: number;
  /** Largest resident set of an instance in MiB. */
  mebibytes: Record<string, number>;
}

/** The runs of the file: short and long invoices, and exchanged ones, all with one instance. */
function runsOfOne({ runs }: Measured): { short: Run; long: Run; exchanged: Run } {
  const ones = runs.filter(({ instances }) => instances === 1);
  const issued = ones.filter(({ kind }) => kind === 'issued').sort((a, b) => a.lines - b.lines);
  const [short, long, exchanged] = [issued[0], issued.at(-1), ones.find(({ kind }) => kind === 'exchanged')];
  if (short === undefined || long === undefined || exchanged === undefined)
    throw new Error('bench/sizing.measured.json lacks a run: BENCH_SAVE=true npm run bench -- sizing');
  return { short, long, exchanged };
}

/** The costs of a document, measured with one instance of each service; linear in lines and in received documents. */
export function costsOf(measured: Measured, { lines, receivedShare }: Form): Costs {
  const { short, long, exchanged } = runsOfOne(measured);
  const idleMs = measured.idle.find(({ instances }) => instances === 1)?.processes ?? {};
  const moreLines = (lines - short.lines) / (long.lines - short.lines);
  const mixed = (figures: (run: Run) => Record<string, number>): Record<string, number> => {
    const [base, ofLong, ofExchanged] = [short, long, exchanged].map(figures) as [Figures, Figures, Figures];
    const names = new Set([...Object.keys(base), ...Object.keys(ofExchanged)]);
    const at = (name: string) => {
      const own = base[name] ?? 0;
      // A longer or delivered document costs no less.
      const more = (other: Figures) => Math.max(0, (other[name] ?? 0) - own);
      const value = own + more(ofLong) * moreLines + more(ofExchanged) * receivedShare;
      return [name, Math.max(0, value)];
    };
    return Object.fromEntries([...names].map(at));
  };
  // Work displaces part of the idle work, so a fifth of what was measured counts at least.
  const busy = (run: Run, name: string, value: number) =>
    Math.max(value - ((idleMs[name] ?? 0) * run.seconds) / run.documents, value / 5);
  const processes = (figure: 'ms' | 'mainMs') => (run: Run) =>
    Object.fromEntries(Object.entries(run.processes).map(([name, one]) => [name, busy(run, name, one[figure])]));
  return {
    ms: mixed(processes('ms')),
    mainMs: mixed(processes('mainMs')),
    publisherMs: publishers(measured),
    idleMs,
    moreIdleMs: moreIdle(measured, idleMs),
    postgresMs: mixed((run) => run.postgres),
    tables: mixed((run) => run.tables),
    topics: mixed((run) => run.topics),
    archive: mixed((run) => run.archive) as Costs['archive'],
    wal: mixed((run) => ({ wal: run.wal })).wal as number,
    mebibytes: Object.fromEntries(SERVICE_NAMES.map((name) => [name, largest(measured, name)])),
  };
}

type Figures = Record<string, number>;

/** Milliseconds a second of all instances of a service, or of a server, while idle. */
export function idleOf(costs: Costs, name: string, instances: number): number {
  return (costs.idleMs[name] ?? 0) + (costs.moreIdleMs[name] ?? 0) * (instances - 1);
}

/** Linear between one instance and the most that were measured. */
function moreIdle({ idle }: Measured, ofOne: Figures): Figures {
  const most = idle.reduce((best, one) => (one.instances > best.instances ? one : best));
  if (most.instances === 1) return ofOne;
  const totals: Figures = {};
  for (const [name, ms] of Object.entries(most.processes)) {
    const part = name.replace(/-\d+$/, '');
    totals[part] = (totals[part] ?? 0) + ms;
  }
  const more = ([name, total]: [string, number]) => [name, (total - (ofOne[name] ?? 0)) / (most.instances - 1)];
  return Object.fromEntries(Object.entries(totals).map(more));
}

function largest({ runs }: Measured, service: string): number {
  return Math.max(...runs.flatMap((run) => instancesOf(run, service).map(({ mebibytes }) => mebibytes)));
}

/** The figures of all instances of a service in a run. */
export function instancesOf({ processes }: Run, service: string): Run['processes'][string][] {
  const isOne = (name: string) => name === service || name.startsWith(`${service}-`);
  return Object.entries(processes).flatMap(([name, figures]) => (isOne(name) ? [figures] : []));
}

/** Of several instances, which get the same calls, the publisher works longer: that is what publishing costs. */
function publishers({ runs }: Measured): Record<string, number> {
  const most = runs.reduce((best, run) => (run.instances > best.instances ? run : best));
  if (most.instances === 1) return {};
  const extra = SERVICE_NAMES.map((service) => {
    const [publisher = 0, ...others] = instancesOf(most, service)
      .map(({ mainMs }) => mainMs)
      .sort((a, b) => b - a);
    return [service, publisher - others.reduce((sum, ms) => sum + ms, 0) / others.length];
  });
  return Object.fromEntries(extra);
}

/** Milliseconds of processor time of a document in a run with several instances, by service or server, as the costs predict it. */
export function predictedMs(measured: Measured, run: Run): Record<string, number> {
  const costs = costsOf(measured, { lines: run.lines, receivedShare: run.kind === 'exchanged' ? 1 : 0 });
  const at = (name: string) =>
    (costs.ms[name] ?? 0) + (idleOf(costs, name, run.instances) * run.seconds) / run.documents;
  return Object.fromEntries([...SERVICE_NAMES, ...SERVERS].map((name) => [name, at(name)]));
}
