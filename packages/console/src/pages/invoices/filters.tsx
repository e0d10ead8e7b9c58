import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { type InvoiceFilters, invoiceOfTrack } from '../../data/invoices.js';
import { usePlace } from '../../data/place.js';
import { Field } from '../../ui/field.js';
import { problemText } from '../../ui/problem.js';
import { Criteria, MoreCriteria } from './criteria.js';
import { textOf, wantedOf } from './search-text.js';

/** The search field and the filters. Nothing changes before the form is sent. */
export function Filters({ filters }: { filters: InvoiceFilters }) {
  const words = useTranslations('invoices');
  const state = useTranslations('state');
  const [draft, change] = useDraft(filters);
  const { find, error } = useFind();
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    find(draft);
  };
  return (
    <search>
      <form className="find" onSubmit={send}>
        <Field label={words('find')} hint={words('findHint')} fault={error ? problemText(error, state) : undefined}>
          {(ids) => (
            <input
              {...ids}
              type="search"
              value={draft.text}
              onChange={({ target }) => change({ text: target.value })}
              autoComplete="off"
              spellCheck={false}
              maxLength={150}
            />
          )}
        </Field>
        <Criteria draft={draft} change={change} />
        <MoreCriteria draft={draft} change={change} />
        <div className="actions">
          <button type="submit" className="main">
            {words('search')}
          </button>
          <Link to="/invoices" className="plain">
            {words('clear')}
          </Link>
        </div>
      </form>
    </search>
  );
}

/** The filters while a person changes them, with the text of the search field. */
export type Draft = InvoiceFilters & { text: string };

/** The draft begins again whenever the address changes. */
function useDraft(filters: InvoiceFilters): [Draft, (changed: Partial<Draft>) => void] {
  const key = JSON.stringify(filters);
  const fresh = { ...filters, text: textOf(filters) };
  const [draft, setDraft] = useState({ key, values: fresh as Draft });
  if (draft.key !== key) setDraft({ key, values: fresh });
  return [draft.values, (changed) => setDraft({ key, values: { ...draft.values, ...changed } })];
}

/** Opens the document that the text names, or lists the documents that the filters match. */
function useFind() {
  const navigate = useNavigate();
  const place = usePlace();
  const open = ({ rnc, encf }: { rnc: string; encf: string }) =>
    navigate({ to: '/invoices/$rnc/$encf', params: { rnc, encf } });
  const track = useMutation({ mutationFn: (id: string) => invoiceOfTrack(id, place), onSuccess: open });
  const find = ({ text, buyer: _buyer, name: _name, reference: _reference, ...others }: Draft) => {
    const wanted = wantedOf(text);
    track.reset();
    if ('encf' in wanted) return open({ rnc: place.rnc, encf: wanted.encf });
    if ('trackId' in wanted) return track.mutate(wanted.trackId);
    return navigate({ to: '/invoices', search: { ...others, ...wanted.filters } });
  };
  return { find, error: track.error };
}
