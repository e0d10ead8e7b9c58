import type { Spent, Stored } from './probe.js';

/** Figures of one process, by document. */
interface ProcessFigures {
  /** Milliseconds of processor time: of all threads, and of the thread that runs JavaScript. */
  ms: number;
  mainMs: number;
  /** Largest resident set. */
  mebibytes: number;
}

/** What a round cost, by document. */
export interface Run {
  /** `exchanged` documents are also delivered to a buyer that receives them on the same deployment. */
  kind: 'issued' | 'exchanged';
  lines: number;
  instances: number;
  documents: number;
  /** Documents a second until the last was submitted. */
  rate: number;
  /** Seconds until all work was done. */
  seconds: number;
  /** Cores that the deployment used meanwhile, and that other programs of the machine used. */
  cores: number;
  othersCores: number;
  /** By process: `emission`, `emission-2`, ... */
  processes: Record<string, ProcessFigures>;
  /** Milliseconds of processor time of PostgreSQL by database; `server` for all of them. */
  postgres: Record<string, number>;
  /** Connections to each database, of all instances together. */
  connections: Record<string, number>;
  /** Bytes by `<service>.<table>`, with indexes. */
  tables: Record<string, number>;
  wal: number;
  topics: Record<string, number>;
  archive: { bytes: number; objects: number };
}

/** Milliseconds of processor time a second of each process, without any document. */
export interface Idle {
  instances: number;
  processes: Record<string, number>;
}

/** The file `bench/sizing.measured.json`. */
export interface Measured {
  date: string;
  version: string;
  machine: string;
  /** Milliseconds of one draw of an automatic number, with its commit. */
  drawMs: number;
  idle: Idle[];
  runs: Run[];
}

interface Moment {
  spent: Spent;
  stored: Stored;
}

interface RunFacts extends Pick<Run, 'kind' | 'lines' | 'instances' | 'documents' | 'connections'> {
  sentSeconds: number;
  seconds: number;
  peaks: Record<string, number>;
}

/** The figures of a round from the totals before and after it. */
export function runOf(facts: RunFacts, before: Moment, after: Moment): Run {
  const { kind, lines, instances, documents, connections, sentSeconds, seconds, peaks } = facts;
  const each = (from: Record<string, number>, to: Record<string, number>, factor = 1) =>
    Object.fromEntries(
      Object.entries(to).map(([name, value]) => [name, rounded(((value - (from[name] ?? 0)) * factor) / documents)]),
    );
  const processes = Object.entries(after.spent.processes).map(([name, { all, main }]) => {
    const begun = before.spent.processes[name] ?? { all: 0, main: 0 };
    const ms = rounded(((all - begun.all) * 1_000) / documents);
    const mainMs = rounded(((main - begun.main) * 1_000) / documents);
    return [name, { ms, mainMs, mebibytes: Math.round((peaks[name] ?? 0) / 2 ** 20) }] as const;
  });
  const used = processes.reduce((sum, [, { ms }]) => sum + ms, 0) * documents * 0.001;
  return {
    kind,
    lines,
    instances,
    documents,
    rate: rounded(documents / sentSeconds),
    seconds: rounded(seconds),
    cores: rounded(used / seconds),
    othersCores: rounded((after.spent.machine - before.spent.machine - used) / seconds),
    processes: Object.fromEntries(processes),
    postgres: each(before.spent.postgres, after.spent.postgres, 1_000),
    connections,
    tables: each(before.stored.tables, after.stored.tables),
    wal: Math.round((after.spent.wal - before.spent.wal) / documents),
    topics: each(before.stored.topics, after.stored.topics),
    archive: {
      bytes: rounded((after.stored.archive.bytes - before.stored.archive.bytes) / documents),
      objects: rounded((after.stored.archive.objects - before.stored.archive.objects) / documents),
    },
  };
}

/** What the processes use while nothing arrives. */
export function idleOf(instances: number, seconds: number, before: Spent, after: Spent): Idle {
  const processes = Object.entries(after.processes).map(([name, { all }]) => {
    return [name, rounded(((all - (before.processes[name]?.all ?? 0)) * 1_000) / seconds)] as const;
  });
  return { instances, processes: Object.fromEntries(processes) };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
