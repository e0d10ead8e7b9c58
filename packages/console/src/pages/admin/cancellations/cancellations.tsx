import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useAdmin } from '../../../data/admin/gateway.js';
import { type DoubtfulCancellation, listDoubtful } from '../../../data/admin/work.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Pages } from '../pages.js';
import { Settle } from './settle.js';

const route = getRouteApi('/admin/cancellations');

/** Cancellations whose outcome only a person can find out, and the ones that a person settled. */
export function Cancellations() {
  const words = useTranslations('admin.cancellations');
  const { after, settled } = route.useSearch();
  const page = useAdmin(['cancellations', settled, after], () => listDoubtful(settled === 'true', after));
  return (
    <>
      <h1>{words('title')}</h1>
      <p className="quiet prose">{words('hint')}</p>
      <nav className="tabs" aria-label={words('title')}>
        <Link to="/admin/cancellations" activeOptions={{ exact: true, includeSearch: true }}>
          {words('open')}
        </Link>
        <Link to="/admin/cancellations" search={{ settled: 'true' }} activeOptions={{ includeSearch: true }}>
          {words('settled')}
        </Link>
      </nav>
      <Loaded query={page}>
        {({ cancellations, next }) => (
          <>
            {cancellations.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows rows={cancellations} />}
            <Pages label={words('pages')} by="after" isFirst={after === undefined} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Rows({ rows }: { rows: readonly DoubtfulCancellation[] }) {
  const words = useTranslations('admin.cancellations');
  const { moment, rnc } = useFormats();
  const columns: Column<DoubtfulCancellation>[] = [
    {
      head: words('numbers'),
      cell: ({ numbers, env }) => (
        <>
          {numbers}
          <small>{env}</small>
        </>
      ),
    },
    { head: words('issuer'), cell: ({ issuer_rnc }) => rnc(issuer_rnc) },
    {
      head: words('answer'),
      cell: ({ authority_response: answer }) =>
        answer === null ? words('noAnswer') : <bdi className="code">{answer}</bdi>,
    },
    { head: words('created'), cell: ({ created_at }) => moment(created_at) },
    {
      head: words('outcome'),
      cell: (cancellation) =>
        cancellation.settled_at === null ? (
          <Settle cancellation={cancellation} />
        ) : (
          <>
            {moment(cancellation.settled_at)}
            <small dir="auto">{cancellation.note}</small>
          </>
        ),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={rows} rowKey={({ id }) => String(id)} />;
}
