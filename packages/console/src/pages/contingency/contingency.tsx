import { CONTINGENCY_LEGEND } from '@ecf/domain';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { useWaiting, type WaitingDocument } from '../../data/contingency.js';
import { useMay } from '../../data/place.js';
import { Authority } from '../../ui/authority.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { type Column, Table } from '../../ui/table.js';
import './contingency.css';

const route = getRouteApi('/contingency');

/** The documents that were signed while the authority was unreachable, and the state of its services. */
export function Contingency() {
  const words = useTranslations('contingency');
  const { after } = route.useSearch();
  const page = useWaiting(after);
  const seesAuthority = useMay('read');
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {page.data && page.data.total > 0 && <p className="quiet">{words('count', { count: page.data.total })}</p>}
      </header>
      <Loaded query={page}>
        {({ documents, next, total }) => (
          <section>
            {total === 0 ? <Calm /> : <Waiting documents={documents} />}
            {next !== null && (
              <nav className="pages" aria-label={words('waiting')}>
                <Link to="/contingency" search={{ after: next }}>
                  {words('next')}
                </Link>
              </nav>
            )}
          </section>
        )}
      </Loaded>
      {seesAuthority && <Authority />}
    </>
  );
}

function Calm() {
  const words = useTranslations('contingency');
  return (
    <>
      <p className="status good">{words('calm')}</p>
      <p className="quiet">{words('how')}</p>
    </>
  );
}

function Waiting({ documents }: { documents: readonly WaitingDocument[] }) {
  const words = useTranslations('contingency');
  const { moment } = useFormats();
  const columns: Column<WaitingDocument>[] = [
    {
      head: words('document'),
      cell: ({ encf, issuer_rnc }) => (
        <Link to="/invoices/$rnc/$encf" params={{ rnc: issuer_rnc, encf }}>
          {encf}
        </Link>
      ),
    },
    { head: words('since'), cell: ({ signed_at }) => moment(signed_at) },
    {
      head: words('deadline'),
      cell: ({ deadline }) =>
        deadline === null ? <span className="quiet">{words('noDeadline')}</span> : moment(deadline),
    },
  ];
  return (
    <>
      <p>{words('what')}</p>
      <blockquote className="messages" lang="es">
        {CONTINGENCY_LEGEND}
      </blockquote>
      <Table
        caption={words('waiting')}
        columns={columns}
        rows={documents}
        rowKey={({ issuer_rnc, encf }) => `${issuer_rnc} ${encf}`}
      />
    </>
  );
}
