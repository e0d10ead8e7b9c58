import { useTranslations } from 'use-intl';
import {
  type DeadLetter,
  dismissDeadLetter,
  listDeadLetters,
  replayDeadLetter,
} from '../../../data/admin/deployment.js';
import { useAdmin } from '../../../data/admin/gateway.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act, Reason, textOf } from '../act.js';

const REFRESH_MS = 15_000;

/** The events that services gave up, each with its reason and the two acts. */
export function DeadLetters() {
  const words = useTranslations('admin.deadLetters');
  const deadLetters = useAdmin(['dead-letters'], listDeadLetters, REFRESH_MS);
  return (
    <section>
      <h2>{words('title')}</h2>
      <Loaded query={deadLetters}>
        {({ dead_letters: rows }) =>
          rows.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows rows={rows} />
        }
      </Loaded>
    </section>
  );
}

const keyOf = ({ service, group, event_id }: DeadLetter) => `${service} ${group} ${event_id}`;

function Rows({ rows }: { rows: readonly DeadLetter[] }) {
  const words = useTranslations('admin.deadLetters');
  const { moment } = useFormats();
  const columns: Column<DeadLetter>[] = [
    {
      head: words('event'),
      cell: ({ type, key, event_id }) => (
        <>
          {type}
          <small className="code">{key}</small>
          <small className="code">{event_id}</small>
        </>
      ),
    },
    {
      head: words('service'),
      cell: ({ service, topic }) => (
        <>
          {service}
          <small>{topic}</small>
        </>
      ),
    },
    { head: words('reason'), cell: ({ reason }) => <bdi>{reason}</bdi> },
    {
      head: words('failed'),
      cell: ({ failed_at, attempts }) => (
        <>
          {moment(failed_at)}
          <small>{words('attempts', { count: attempts })}</small>
        </>
      ),
    },
    { head: words('acts'), cell: (row) => <Acts row={row} /> },
  ];
  return <Table caption={words('title')} columns={columns} rows={rows} rowKey={keyOf} />;
}

function Acts({ row }: { row: DeadLetter }) {
  const words = useTranslations('admin.deadLetters');
  if (row.replaying) return <span className="status wait">{words('replaying')}</span>;
  return (
    <div className="actions">
      <Act name={words('replay')} of={row.event_id} effect={words('replayEffect')} act={() => replayDeadLetter(row)} />
      <Act
        name={words('dismiss')}
        of={row.event_id}
        effect={words('dismissEffect')}
        act={(form) => dismissDeadLetter(row, textOf(form, 'reason'))}
      >
        <Reason name="reason" />
      </Act>
    </div>
  );
}
