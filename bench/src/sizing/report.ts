import { UTILISATION } from './assumptions.js';
import type { Measured } from './measured.js';
import type { Plan } from './model.js';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** The plan as a page of text. */
export function pageOf(plan: Plan, measured: Measured): string {
  const { demand } = plan;
  const total = (figure: (service: Plan['services'][number]) => number) =>
    plan.services.reduce((sum, service) => sum + figure(service), 0);
  const instances = [...new Set(measured.runs.map((run) => run.instances))];
  const parts = [
    `${count(demand.documentsPerHour)} documents an hour of ${demand.lines} lines, peak ${demand.peak} ×: ` +
      `${plan.meanRate.toFixed(0)}/s, at the peak ${plan.peakRate.toFixed(0)}/s.`,
    `For each issued document ${demand.receivedShare} received and ${demand.receivedShare} delivered. ` +
      `Cores are loaded to ${100 * UTILISATION} % at the peak.`,
    table(
      ['Service', 'instances', 'because of', 'cores', 'MiB each', 'connections', 'wait p99'],
      [
        ...plan.services.map((one) => [
          one.name,
          String(one.instances),
          one.because,
          one.cores.toFixed(1),
          String(one.mebibytes),
          String(one.connections),
          `${one.waitMs.toFixed(0)} ms`,
        ]),
        [
          'all',
          String(total((s) => s.instances)),
          '',
          total((s) => s.cores).toFixed(1),
          '',
          String(total((s) => s.connections)),
          '',
        ],
        ...plan.servers.map(({ name, cores }) => [name, '', '', cores.toFixed(1), '', '', '']),
      ],
    ),
    connectionsLine(total((s) => s.connections)),
    table(
      ['Disk', 'a year', `after ${demand.years} years`],
      [...plan.databases.map((one) => ({ ...one, name: `database ${one.name}` })), plan.archive]
        .filter((one) => one.total > 0)
        .map((one) => [one.name, bytes(one.perYear), bytes(one.total)]),
    ),
    `WAL ${bytes(plan.walPerDay)} a day; objects in the archive ${count(plan.archive.objectsPerYear)} a year.`,
    table(
      ['Topic', 'partitions', 'a day', 'kept'],
      plan.topics.map((one) => [one.name, String(one.partitions), bytes(one.perDay), bytes(one.total)]),
    ),
    `Of one copy. Multiply by the copies of PostgreSQL and Kafka. Redis keeps tokens and counters: less than 100 MB.`,
    `Most cores: ${shares(plan.drivers.cores)}.\nMost disk: ${shares(plan.drivers.disk)}.`,
    limitLines(plan),
    `Measured on ${measured.date} (${measured.version}, ${measured.machine})\n` +
      `with ${instances.join(', ')} of each service. ` +
      `More are extrapolated; waits are simulated; 60 % and free space in tables are assumed.`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function connectionsLine(connections: number): string {
  const most = Math.ceil(connections / 50) * 50 + 50;
  const servers = connections > 500 ? ' Above 500, give each database its own server.' : '';
  return `PostgreSQL: max_connections ${most} on one server.${servers}\nNo pooler: the publishers need sessions.`;
}

function limitLines({ limits, demand }: Plan): string {
  const of = (kind: string) => limits.filter((limit) => limit.kind === kind);
  const lines = (kind: string) =>
    of(kind).map(({ name, documentsPerHour, movedBy }) => {
      // One range has only a part of the documents.
      const mark = kind !== 'range' && documentsPerHour < demand.documentsPerHour ? '!' : ' ';
      return `${mark} ${count(documentsPerHour).padStart(13)}  ${name}\n${' '.repeat(17)}moved by: ${movedBy}`;
    });
  const first = (kind: string) => {
    const [limit] = of(kind);
    return `${limit?.name} (${count(limit?.documentsPerHour ?? 0)} an hour)`;
  };
  return [
    'Limits in documents an hour with this peak (! = too low)',
    ' Settings',
    ...lines('setting'),
    ' Parts that more instances do not speed up',
    ...lines('part'),
    ' Of one number range',
    ...lines('range'),
    '',
    `First bottleneck: ${first('setting')}.`,
    `Of the parts: ${first('part')}.`,
  ].join('\n');
}

function shares(parts: Plan['drivers']['cores']): string {
  return parts
    .slice(0, 6)
    .map(({ name, share }) => `${name} ${(100 * share).toFixed(0)} %`)
    .join(', ');
}

function table(head: string[], rows: string[][]): string {
  const widths = head.map((cell, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? cell).length)));
  const line = (row: string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)].join('\n');
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  return `${(value / 1_000 ** power).toPrecision(3)} ${UNITS[power]}`;
}
