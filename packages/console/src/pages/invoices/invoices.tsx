import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useTranslations } from 'use-intl';
import { type InvoiceFilters, useInvoices } from '../../data/invoices.js';
import { usePlace } from '../../data/place.js';
import { dayBefore, useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { Status } from '../../ui/status.js';

const route = getRouteApi('/invoices');
const STATUSES = ['Aceptado', 'AceptadoCondicional', 'Rechazado', 'EnProceso'] as const;
const TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] as const;

/** Issued documents, by filters that stand in the address. */
export function Invoices() {
  const words = useTranslations('invoices');
  const filters = route.useSearch();
  const page = useInvoices(filters);
  const { rnc: issuer } = usePlace();
  const { number } = useFormats();
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
        {page.data && <p className="quiet">{words('count', { count: page.data.total })}</p>}
      </header>
      <Filters filters={filters} />
      <Loaded query={page}>
        {({ invoices, next_cursor: next, total }) => (
          <>
            {total === 0 ? <p className="quiet">{words('empty')}</p> : <Rows invoices={invoices} issuer={issuer} />}
            <nav className="pages" aria-label={number(total)}>
              {filters.cursor !== undefined && (
                <Link to="/invoices" search={withoutCursor(filters)}>
                  {words('first')}
                </Link>
              )}
              {next !== null && (
                <Link to="/invoices" search={{ ...filters, cursor: next }}>
                  {words('next')}
                </Link>
              )}
            </nav>
          </>
        )}
      </Loaded>
    </>
  );
}

const withoutCursor = ({ cursor: _, ...others }: InvoiceFilters): InvoiceFilters => others;

function Rows({
  invoices,
  issuer,
}: {
  invoices: NonNullable<ReturnType<typeof useInvoices>['data']>['invoices'];
  issuer: string;
}) {
  const words = useTranslations('invoices');
  const { day, money, rnc } = useFormats();
  return (
    <div className="wide">
      <table>
        <caption className="unseen">{words('title')}</caption>
        <thead>
          <tr>
            <th scope="col">{words('encf')}</th>
            <th scope="col">{words('buyer')}</th>
            <th scope="col">{words('date')}</th>
            <th scope="col">{words('status')}</th>
            <th scope="col" className="amount">
              {words('total')}
            </th>
          </tr>
        </thead>
        <tbody>
          {invoices.map(({ id, encf, buyer_name, buyer_rnc, date_issued, status, total_amount, reference }) => (
            <tr key={id}>
              <th scope="row">
                <Link to="/invoices/$rnc/$encf" params={{ rnc: issuer, encf }}>
                  {encf}
                </Link>
                {reference !== null && <small>{reference}</small>}
              </th>
              <td>
                {buyer_name}
                {buyer_rnc !== null && <small>{rnc(buyer_rnc)}</small>}
              </td>
              <td>{day(date_issued)}</td>
              <td>
                <Status status={status} />
              </td>
              <td className="amount">{money(total_amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Filters({ filters }: { filters: InvoiceFilters }) {
  const words = useTranslations();
  const navigate = useNavigate();
  const { rnc } = usePlace();
  const change = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    const encf = given.encf?.trim().toUpperCase();
    if (encf) return navigate({ to: '/invoices/$rnc/$encf', params: { rnc, encf } });
    const { encf: _, ...search } = given;
    return navigate({ to: '/invoices', search });
  };
  return (
    <search>
      <form className="filters" onSubmit={change} key={JSON.stringify(filters)}>
        <label className="field">
          <span>{words('invoices.from')}</span>
          <input type="date" name="from" defaultValue={filters.from ?? dayBefore(30)} required />
        </label>
        <label className="field">
          <span>{words('invoices.to')}</span>
          <input type="date" name="to" defaultValue={filters.to ?? dayBefore(0)} required />
        </label>
        <label className="field">
          <span>{words('invoices.status')}</span>
          <select name="status" defaultValue={filters.status ?? ''}>
            <option value="">{words('invoices.all')}</option>
            {STATUSES.map((status) => (
              <option key={status} value={status}>
                {words(`status.${status}`)}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>{words('invoices.type')}</span>
          <select name="type" defaultValue={filters.type ?? ''}>
            <option value="">{words('invoices.all')}</option>
            {TYPES.map((type) => (
              <option key={type} value={type}>
                {`${type} ${words(`type.${type}`)}`}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>{words('invoices.buyerRnc')}</span>
          <input name="buyer" defaultValue={filters.buyer} inputMode="numeric" autoComplete="off" />
        </label>
        <label className="field">
          <span>{words('invoices.reference')}</span>
          <input name="reference" defaultValue={filters.reference} autoComplete="off" />
        </label>
        <label className="field">
          <span>{words('invoices.find')}</span>
          <input name="encf" placeholder="E310000000001" autoComplete="off" />
        </label>
        <button type="submit">{words('invoices.search')}</button>
        <Link to="/invoices" className="plain">
          {words('invoices.clear')}
        </Link>
      </form>
    </search>
  );
}
