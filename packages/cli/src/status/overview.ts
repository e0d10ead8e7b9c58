import type { DeploymentStateBody } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { printable, wrapped } from '../output.js';
import { age, labelled } from '../terminal.js';

const COUNT = 10;
const NAME = 24;

/** The state of a deployment for a terminal. Lines that begin with `!` need a person. */
export function overviewOf(state: DeploymentStateBody, now: Date, columns: number): string {
  const { documents_today: documents, alarms, queues, authority, services, unreachable } = state;
  const sections = [
    section('documents today', documents.length === 0 ? ['    none'] : documents.map(documentLine)),
    section('alarms', alarms.length === 0 ? ['    none fires'] : alarms.flatMap((alarm) => alarmLines(alarm, columns))),
    section('waiting', queues.map(queueLine)),
    section('authority', authority.map(authorityLine)),
    section('services', [
      ...unreachable.map((service) => `  ! ${service.padEnd(NAME)}does not answer`),
      ...services.map(({ service, version }) => `    ${service.padEnd(NAME)}${version}`),
    ]),
  ];
  return `e-CF gateway, ${toIsoDominican(now).slice(0, 19).replace('T', ' ')} Dominican time\n\n${sections.join('\n')}`;
}

function section(title: string, lines: readonly string[]): string {
  return [title, ...lines, ''].join('\n');
}

const number = (value: number) => value.toLocaleString('en-US').padStart(COUNT);

function documentLine({ env, status, count }: DeploymentStateBody['documents_today'][number]): string {
  return `    ${`${env} ${status}`.padEnd(NAME + 4)}${number(count)}`;
}

function alarmLines(
  { alarm, severity, labels, value, limit, runbook }: DeploymentStateBody['alarms'][number],
  columns: number,
) {
  const what = `${alarm} (${severity}) ${labelled(labels)}${printable(String(value))}, limit ${limit}`;
  return [...wrapped(`! ${what}`, columns, 2, 6), `      ${runbook}`];
}

function queueLine({ queue, waiting, oldest_seconds: oldest }: DeploymentStateBody['queues'][number]): string {
  const since = waiting === 0 || oldest === null ? '' : `  the oldest for ${age(oldest)}`;
  return `    ${queue.replaceAll('_', ' ').padEnd(NAME + 4)}${number(waiting)}${since}`;
}

function authorityLine({ env, reachable }: DeploymentStateBody['authority'][number]): string {
  return `  ${reachable ? ' ' : '!'} ${env.padEnd(NAME)}${reachable ? 'no failure known' : 'does not answer; documents wait'}`;
}
