import { useTranslations } from 'use-intl';
import { type FiringAlarm, type Queue, readState } from '../../../data/admin/deployment.js';
import { useAdmin } from '../../../data/admin/gateway.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { useAge } from '../age.js';
import { DeadLetters } from './dead-letters.js';

const REFRESH_MS = 15_000;

/** What needs a person now: alarms with their runbook, work that waits, and dead letters. */
export function State() {
  const words = useTranslations('admin.state');
  const state = useAdmin(['state'], readState, REFRESH_MS);
  return (
    <>
      <h1>{words('title')}</h1>
      <Loaded query={state}>
        {({ alarms, queues, unreachable }) => (
          <>
            <section>
              <h2>{words('alarms')}</h2>
              {unreachable.length > 0 && (
                <p className="bad">{words('unreachable', { services: unreachable.join(', ') })}</p>
              )}
              {alarms.length === 0 ? <p className="status good">{words('calm')}</p> : <Alarms alarms={alarms} />}
              <p className="quiet prose">{words('hint')}</p>
            </section>
            <DeadLetters />
            <Queues queues={queues} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Alarms({ alarms }: { alarms: readonly FiringAlarm[] }) {
  const words = useTranslations('admin.state');
  const texts = useTranslations('admin.alarm');
  const { number } = useFormats();
  return (
    <ul className="attention alarms">
      {alarms.map(({ alarm, severity, labels, value, limit, runbook }) => (
        <li key={alarm + JSON.stringify(labels)} className={severity}>
          <span>
            <span className={`status ${severity === 'page' ? 'bad' : 'warn'}`}>{words(`severity.${severity}`)}</span>{' '}
            {texts.has(alarm as 'EcfDeadLetters') ? texts(alarm as 'EcfDeadLetters') : alarm}
          </span>
          <small>
            {[...Object.values(labels), words('measured', { value: number(value), limit: number(limit) })].join(' · ')}
          </small>
          <a href={runbook} target="_blank" rel="noreferrer">
            {words('runbook')}
            <span className="unseen"> {alarm}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function Queues({ queues }: { queues: readonly Queue[] }) {
  const words = useTranslations('admin.state');
  const { number } = useFormats();
  const age = useAge();
  const columns: Column<Queue>[] = [
    { head: words('queue'), cell: ({ queue }) => words(`queues.${queue}`) },
    { head: words('waiting'), cell: ({ waiting }) => number(waiting), amount: true },
    {
      head: words('oldest'),
      cell: ({ waiting, oldest_seconds: oldest }) => (waiting === 0 || oldest === null ? '' : age(oldest)),
      amount: true,
    },
  ];
  return (
    <section>
      <h2>{words('queuesTitle')}</h2>
      <Table caption={words('queuesTitle')} columns={columns} rows={queues} rowKey={({ queue }) => queue} />
    </section>
  );
}
