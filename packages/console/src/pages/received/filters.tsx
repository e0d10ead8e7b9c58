import { Link, useNavigate } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useTranslations } from 'use-intl';
import type { ReceivedFilters } from '../../data/received.js';
import { Field } from '../../ui/field.js';
import { dayBefore } from '../../ui/format.js';

const DECISIONS = ['pending', 'approved', 'rejected'] as const;
const CONFIRMATIONS = ['pending', 'confirmed', 'rejected', 'unknown', 'not_available'] as const;
const TYPES = ['31', '33', '34', '44', '45'] as const;

/** The filters of the inbox; the address holds them. */
export function Filters({ filters }: { filters: ReceivedFilters }) {
  const words = useTranslations('received');
  const list = useTranslations('invoices');
  const decisions = useTranslations('invoice.approved');
  const types = useTranslations('type');
  const navigate = useNavigate();
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
    navigate({ to: '/received', search: { ...given, provider: given.provider?.replaceAll(/\D/g, '') } });
  };
  return (
    <search>
      <form className="filters" onSubmit={search} key={JSON.stringify(filters)}>
        <Field label={list('from')}>
          {(ids) => <input {...ids} type="date" name="from" defaultValue={filters.from ?? dayBefore(30)} required />}
        </Field>
        <Field label={list('to')}>
          {(ids) => <input {...ids} type="date" name="to" defaultValue={filters.to ?? dayBefore(0)} required />}
        </Field>
        <Options
          label={words('approval')}
          name="status"
          value={filters.status}
          options={DECISIONS.map((one) => [one, one === 'pending' ? words('awaits') : decisions(one)])}
        />
        <Options
          label={words('authority')}
          name="authority_status"
          value={filters.authority_status}
          options={CONFIRMATIONS.map((one) => [one, words(`confirmed.${one}`)])}
        />
        <Options
          label={list('type')}
          name="type"
          value={filters.type}
          options={TYPES.map((one) => [one, `${one} ${types(one)}`])}
        />
        <Field label={words('providerRnc')}>
          {(ids) => (
            <input
              {...ids}
              name="provider"
              defaultValue={filters.provider}
              inputMode="numeric"
              autoComplete="off"
              pattern="[\d\-]{9,13}"
            />
          )}
        </Field>
        <button type="submit">{list('search')}</button>
        <Link to="/received" className="plain">
          {list('clear')}
        </Link>
      </form>
    </search>
  );
}

interface OptionsProps {
  label: string;
  name: string;
  value: string | undefined;
  options: readonly (readonly [value: string, text: string])[];
}

/** A list of values of a filter, of which one or none is chosen. */
function Options({ label, name, value = '', options }: OptionsProps) {
  const list = useTranslations('invoices');
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} name={name} defaultValue={value}>
          <option value="">{list('all')}</option>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
