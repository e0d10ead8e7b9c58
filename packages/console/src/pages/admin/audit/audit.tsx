import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useTranslations } from 'use-intl';
import { type AuditEntry, type AuditFilters, useAudit } from '../../../data/admin/audit.js';
import { Field } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { textOf } from '../act.js';
import { ChainOf } from './chain.js';

const route = getRouteApi('/admin/audit');
const FILTERS = ['actor', 'action', 'target'] as const;

/** Who did what, newest first, with the proof that nothing was changed. */
export function Audit() {
  const words = useTranslations('admin.audit');
  const filters = route.useSearch();
  const audit = useAudit(filters);
  return (
    <>
      <h1>{words('title')}</h1>
      <Filters filters={filters} />
      <Loaded query={audit}>
        {({ pages }) => {
          const entries = pages.flatMap(({ entries }) => entries);
          return (
            <>
              <ChainOf entries={entries} isFiltered={FILTERS.some((name) => filters[name] !== undefined)} />
              {entries.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows entries={entries} />}
              {audit.hasNextPage && (
                <button type="button" disabled={audit.isFetchingNextPage} onClick={() => audit.fetchNextPage()}>
                  {words('more')}
                </button>
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function Filters({ filters }: { filters: AuditFilters }) {
  const words = useTranslations('admin.audit');
  const list = useTranslations('invoices');
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    navigate({ to: '/admin/audit', search: Object.fromEntries(FILTERS.map((name) => [name, textOf(form, name)])) });
  };
  return (
    <search>
      <form className="filters" key={JSON.stringify(filters)} onSubmit={submit}>
        {FILTERS.map((name) => (
          <Field key={name} label={words(name)}>
            {(ids) => (
              <input
                {...ids}
                name={name}
                defaultValue={filters[name]}
                placeholder={words(`hints.${name}`)}
                autoComplete="off"
              />
            )}
          </Field>
        ))}
        <button type="submit">{list('search')}</button>
      </form>
    </search>
  );
}

function Rows({ entries }: { entries: readonly AuditEntry[] }) {
  const words = useTranslations('admin.audit');
  const { moment } = useFormats();
  const columns: Column<AuditEntry>[] = [
    { head: words('seq'), cell: ({ seq }) => <span className="whole">{seq}</span> },
    { head: words('at'), cell: ({ at }) => moment(at) },
    { head: words('actor'), cell: ({ actor }) => <bdi>{actor}</bdi> },
    { head: words('action'), cell: ({ action }) => <span className="code whole">{action}</span> },
    {
      head: words('target'),
      cell: ({ target, details }) => (
        <>
          <span className="code">{target}</span>
          {Object.keys(details).length > 0 && (
            <details>
              <summary>{words('details')}</summary>
              <pre className="code">{JSON.stringify(details, null, 2)}</pre>
            </details>
          )}
        </>
      ),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={entries} rowKey={({ seq }) => String(seq)} />;
}
