import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { type Batch, useBatches } from '../../data/batches.js';
import { useMay } from '../../data/place.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { type Column, Table } from '../../ui/table.js';
import './batches.css';
import { BatchStatus, Progress } from './progress.js';

const route = getRouteApi('/batches');

/** The batches of the environment, newest first. */
export function Batches() {
  const words = useTranslations('batches');
  const { after } = route.useSearch();
  const page = useBatches(after);
  const maySend = useMay('submit');
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {maySend && (
          <Link to="/batches/new" className="button main">
            {words('new')}
          </Link>
        )}
      </header>
      <Loaded query={page}>
        {({ batches, next }) => (
          <>
            {batches.length === 0 ? (
              <p className="quiet">{maySend ? words('empty') : words('emptyReader')}</p>
            ) : (
              <Rows batches={batches} />
            )}
            {next !== null && (
              <nav className="pages" aria-label={words('title')}>
                <Link to="/batches" search={{ after: next }}>
                  {words('next')}
                </Link>
              </nav>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function Rows({ batches }: { batches: readonly Batch[] }) {
  const words = useTranslations('batches');
  const { moment, number } = useFormats();
  const columns: Column<Batch>[] = [
    {
      head: words('batch'),
      cell: ({ batch_id, validate }) => (
        <>
          <Link to="/batches/$id" params={{ id: batch_id }}>
            {words('named', { id: batch_id })}
          </Link>
          {validate && <small>{words('checkOnly')}</small>}
        </>
      ),
    },
    { head: words('created'), cell: ({ created_at }) => moment(created_at) },
    { head: words('status'), cell: (batch) => <BatchStatus batch={batch} /> },
    { head: words('progress'), cell: (batch) => <Progress batch={batch} /> },
    {
      head: words('counts.refused'),
      cell: ({ refused, rejected }) => number(refused + rejected),
      amount: true,
    },
    { head: words('total'), cell: ({ total }) => number(total), amount: true },
  ];
  return <Table caption={words('title')} columns={columns} rows={batches} rowKey={({ batch_id }) => batch_id} />;
}
