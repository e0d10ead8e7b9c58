import { SERVICE_NAMES } from '@ecf/contracts';
import { costsOf, instancesOf, predictedMs } from './costs.js';
import type { Measured } from './measured.js';
import { planOf } from './model.js';
import { readOptions } from './options.js';
import { pageOf } from './report.js';

const MILLION = ['--documents-per-hour', '1000000', '--peak', '3'];
/** Documents an hour for which the chart's default requests suffice, with two pods of each service. */
export const CHART_DOCUMENTS = 100_000;

/** The generated parts of docs/sizing.md, by the name of their place. */
export function documentationOf(measured: Measured): Record<string, string> {
  const { demand } = readOptions(MILLION);
  return {
    page: `\`\`\`text\n${pageOf(planOf(measured, demand), measured)}\`\`\``,
    constants: constants(measured),
    held: held(measured),
    resources: resources(measured),
  };
}

function constants(measured: Measured): string {
  const [ten, twenty, received] = [
    { lines: 10, receivedShare: 0 },
    { lines: 20, receivedShare: 0 },
    { lines: 10, receivedShare: 1 },
  ].map((form) => costsOf(measured, form)) as [Costs, Costs, Costs];
  const rows = [...SERVICE_NAMES, 'postgresql', 'kafka', 'redis'].map((name) => {
    const isService = SERVICE_NAMES.some((service) => service === name);
    const main = isService ? ` (${(ten.mainMs[name] ?? 0).toFixed(1)})` : '';
    const more = (other: Costs) => ((other.ms[name] ?? 0) - (ten.ms[name] ?? 0)).toFixed(1);
    const tables = Object.entries(ten.tables).filter(([table]) => table.startsWith(`${name}.`));
    const bytes = tables.reduce((sum, [, each]) => sum + each, 0);
    return [
      name,
      `${(ten.ms[name] ?? 0).toFixed(1)}${main}`,
      more(twenty),
      more(received),
      (ten.idleMs[name] ?? 0).toFixed(0),
      isService ? String(ten.mebibytes[name]) : '',
      isService ? bytes.toFixed(0) : '',
    ];
  });
  const head = [
    'Part',
    'ms a document (main thread)',
    'ten more lines',
    'one delivered and received too',
    'idle, ms a second',
    'MiB',
    'bytes in its database',
  ];
  const kafka = Object.values(ten.topics).reduce((sum, each) => sum + each, 0);
  return `${table(head, rows)}\n
A document of ten lines also takes ${kafka.toFixed(0)} bytes in the topics, ${ten.archive.bytes.toFixed(0)} in the archive and ${ten.wal.toFixed(0)} of WAL; a draw of an
automatic number with its commit ${measured.drawMs.toFixed(1)} ms.`;
}

type Costs = ReturnType<typeof costsOf>;

function held(measured: Measured): string {
  const rows = measured.runs
    .filter(({ kind, lines }) => kind === 'issued' && lines === 10)
    .map((run) => {
      const predicted = predictedMs(measured, run);
      const all = Object.keys(predicted).flatMap((name) => instancesOf(run, name).map(({ ms }) => ms));
      const [measuredMs, ms] = [all, Object.values(predicted)].map((each) =>
        each.reduce((sum, one) => sum + one, 0),
      ) as [number, number];
      return [
        String(run.instances),
        String(run.documents),
        run.cores.toFixed(2),
        run.othersCores.toFixed(2),
        ms.toFixed(1),
        measuredMs.toFixed(1),
        (measuredMs / ms).toFixed(2),
      ];
    });
  const head = [
    'Instances of each service',
    'documents',
    'cores used',
    'by other programs',
    'predicted ms a document',
    'measured',
    'ratio',
  ];
  return table(head, rows);
}

function resources(measured: Measured): string {
  const { demand } = readOptions(['--documents-per-hour', String(CHART_DOCUMENTS)]);
  const rows = planOf(measured, demand).services.map(({ name, instances, cores, mebibytes }) => [
    name,
    String(instances),
    `${Math.ceil((cores / instances) * 1_000)}m`,
    `${mebibytes} MiB`,
  ]);
  return table(['Service', 'pods', 'processor of a pod at the peak', 'memory of a pod'], rows);
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
