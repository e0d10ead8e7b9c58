import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { sentencesOf } from '../../data/answer.js';
import { type Cancellation, PAGE, useCancellations } from '../../data/cancellations.js';
import { useAccount } from '../../data/place.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { type Column, Table } from '../../ui/table.js';
import { CancellationState } from './state.js';

const route = getRouteApi('/cancellations');

/** Cancellations of the taxpayer, newest first. */
export function Cancellations() {
  const words = useTranslations('cancellations');
  const list = useTranslations('invoices');
  const offset = Number(route.useSearch().offset ?? 0) || 0;
  const page = useCancellations(offset);
  const mayCancel = useAccount().data?.scopes.includes('cancel') ?? false;
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {mayCancel && (
          <Link to="/cancellations/new" className="button main">
            {words('new')}
          </Link>
        )}
      </header>
      <Loaded query={page}>
        {(cancellations) => (
          <>
            {cancellations.length === 0 ? (
              <p className="quiet">{words('empty')}</p>
            ) : (
              <Rows cancellations={cancellations} />
            )}
            <nav className="pages" aria-label={words('title')}>
              {offset > 0 && <Link to="/cancellations">{list('first')}</Link>}
              {cancellations.length === PAGE && (
                <Link to="/cancellations" search={{ offset: String(offset + PAGE) }}>
                  {list('next')}
                </Link>
              )}
            </nav>
          </>
        )}
      </Loaded>
    </>
  );
}

const SHOWN_RANGES = 2;

function Rows({ cancellations }: { cancellations: readonly Cancellation[] }) {
  const words = useTranslations('cancellations');
  const { moment, number } = useFormats();
  const columns: Column<Cancellation>[] = [
    {
      head: words('cancellation'),
      cell: ({ id, created_at }) => (
        <>
          <Link to="/cancellations/$id" params={{ id: String(id) }}>
            {words('one', { id: String(id) })}
          </Link>
          <small>{moment(created_at)}</small>
        </>
      ),
    },
    {
      head: words('numbers'),
      cell: ({ detail_lines }) => {
        const ranges = detail_lines.flatMap(({ sequence_ranges }) => sequence_ranges);
        return (
          <>
            {ranges.slice(0, SHOWN_RANGES).map(({ id, encf_desde, encf_hasta }) => (
              <span key={id} className="range">
                {encf_desde === encf_hasta ? encf_desde : `${encf_desde} – ${encf_hasta}`}
              </span>
            ))}
            {ranges.length > SHOWN_RANGES && <small>{words('more', { count: ranges.length - SHOWN_RANGES })}</small>}
          </>
        );
      },
    },
    { head: words('count'), cell: ({ total_encf_canceled }) => number(total_encf_canceled), amount: true },
    {
      head: words('state'),
      cell: ({ authority_status, authority_response }) => (
        <>
          <CancellationState status={authority_status} />
          {authority_status !== 'Aceptado' &&
            sentencesOf(authority_response).map((sentence) => <small key={sentence}>{sentence}</small>)}
        </>
      ),
    },
    {
      head: words('reason'),
      cell: ({ cancellation_reason }) => (
        <span className="stranger" dir="auto">
          {cancellation_reason}
        </span>
      ),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={cancellations} rowKey={({ id }) => String(id)} />;
}
