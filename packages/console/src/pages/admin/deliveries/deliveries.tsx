import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useTranslations } from 'use-intl';
import { useAdmin } from '../../../data/admin/gateway.js';
import { type Delivery, type DeliveryFilters, listDeliveries, retryDelivery } from '../../../data/admin/work.js';
import { Field } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act, textOf } from '../act.js';
import { Pages } from '../pages.js';

const route = getRouteApi('/admin/deliveries');

const STATUSES = ['pending', 'unacknowledged', 'failed', 'refused', 'no_receiver', 'delivered'] as const;
const ENDED_WITHOUT = ['unacknowledged', 'failed', 'refused', 'no_receiver'];

/** Deliveries of issued e-CF to their buyers, by filters that stand in the address. */
export function Deliveries() {
  const words = useTranslations('admin.deliveries');
  const filters = route.useSearch();
  const page = useAdmin(['deliveries', filters], () => listDeliveries(filters));
  return (
    <>
      <h1>{words('title')}</h1>
      <Filters filters={filters} />
      <Loaded query={page}>
        {({ deliveries, next }) => (
          <>
            {deliveries.length === 0 ? <p className="quiet">{words('empty')}</p> : <Rows rows={deliveries} />}
            <Pages label={words('title')} by="before" isFirst={filters.before === undefined} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Filters({ filters: { status, encf, buyer } }: { filters: DeliveryFilters }) {
  const words = useTranslations('admin.deliveries');
  const states = useTranslations('invoice.delivered');
  const list = useTranslations('invoices');
  const navigate = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = { status: textOf(form, 'status'), encf: textOf(form, 'encf'), buyer: textOf(form, 'buyer') };
    navigate({ to: '/admin/deliveries', search: { ...chosen, buyer: chosen.buyer.replaceAll('-', '') } });
  };
  return (
    <search>
      <form className="filters" key={`${status} ${encf} ${buyer}`} onSubmit={submit}>
        <Field label={list('status')}>
          {(ids) => (
            <select {...ids} name="status" defaultValue={status ?? ''}>
              <option value="">{list('all')}</option>
              {STATUSES.map((one) => (
                <option key={one} value={one}>
                  {states(one)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={list('encf')}>{(ids) => <input {...ids} name="encf" defaultValue={encf} />}</Field>
        <Field label={words('buyer')}>{(ids) => <input {...ids} name="buyer" defaultValue={buyer} />}</Field>
        <button type="submit">{list('search')}</button>
      </form>
    </search>
  );
}

function Rows({ rows }: { rows: readonly Delivery[] }) {
  const words = useTranslations('admin.deliveries');
  const states = useTranslations('invoice.delivered');
  const { moment, rnc } = useFormats();
  const columns: Column<Delivery>[] = [
    {
      head: words('encf'),
      cell: ({ encf, env }) => (
        <>
          <span className="whole">{encf}</span>
          <small>{env}</small>
        </>
      ),
    },
    {
      head: words('buyer'),
      cell: ({ buyer_rnc, issuer_rnc }) => (
        <>
          {rnc(buyer_rnc)}
          <small>{words('from', { rnc: rnc(issuer_rnc) })}</small>
        </>
      ),
    },
    {
      head: words('status'),
      cell: ({ delivery_status: status, last_error: error }) => (
        <>
          <span
            className={`status ${status === 'delivered' ? 'good' : ENDED_WITHOUT.includes(status) ? 'bad' : 'wait'}`}
          >
            {states(status)}
          </span>
          {error !== null && <small dir="auto">{error}</small>}
        </>
      ),
    },
    {
      head: words('tries'),
      cell: ({ tries, due_at }) => (
        <>
          {tries}
          {due_at !== null && <small>{words('due', { at: moment(due_at) })}</small>}
        </>
      ),
    },
    {
      head: words('acts'),
      cell: (delivery) =>
        delivery.delivery_status === 'delivered' ? null : (
          <Act
            name={words('retry')}
            of={delivery.encf}
            effect={words('retryEffect')}
            act={() => retryDelivery(delivery)}
          />
        ),
    },
  ];
  return <Table caption={words('title')} columns={columns} rows={rows} rowKey={({ id }) => String(id)} />;
}
