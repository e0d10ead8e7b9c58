import { useTranslations } from 'use-intl';
import { useAuthority } from '../data/authority.js';
import type { Schemas } from '../data/gateway.js';
import { useFormats } from './format.js';
import { Loaded } from './loaded.js';
import { type Column, Table } from './table.js';
import './authority.css';

type Monitoring = Schemas['MonitoringStatus'];
type Service = Monitoring['services'][number];

/** The authority's services and its maintenance. */
export function Authority() {
  const words = useTranslations('authority');
  return (
    <section>
      <h2>{words('title')}</h2>
      <Loaded query={useAuthority()}>
        {(status) => (status === null ? <p className="quiet">{words('noMonitoring')}</p> : <Present status={status} />)}
      </Loaded>
    </section>
  );
}

function Present({ status: { env, available, services, maintenance_windows, checked_at } }: { status: Monitoring }) {
  const words = useTranslations('authority');
  const { moment } = useFormats();
  const columns: Column<Service>[] = [
    { head: words('service'), cell: ({ service }) => service },
    { head: words('environment'), cell: ({ environment }) => environment },
    {
      head: words('state'),
      cell: ({ status }) => (
        <span className={`status ${status === 'available' ? 'good' : 'bad'}`}>{words(`service_${status}`)}</span>
      ),
    },
  ];
  return (
    <>
      <p>
        <span className={`status ${available ? 'good' : 'bad'}`}>
          {words(available ? 'available' : 'unavailable', { env })}
        </span>{' '}
        <small>{words('checked', { time: moment(checked_at) })}</small>
      </p>
      <ul className="windows quiet">
        {maintenance_windows.map(({ environment, start_time, end_time, days }) => (
          <li key={`${environment} ${start_time} ${days}`}>
            {words('maintenance', { environment, start: start_time, end: end_time, days: days.join(', ') })}
          </li>
        ))}
      </ul>
      <details>
        <summary>{words('services')}</summary>
        <Table
          caption={words('services')}
          columns={columns}
          rows={services}
          rowKey={({ service, environment }) => `${service} ${environment}`}
        />
      </details>
    </>
  );
}
