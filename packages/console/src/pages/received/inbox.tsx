import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useAccount } from '../../data/place.js';
import { awaitsDecision, type ReceivedInvoice } from '../../data/received.js';
import { useFormats } from '../../ui/format.js';
import { type Column, Table } from '../../ui/table.js';
import type { Asked } from './decide.js';
import { ApprovalState, AuthorityState } from './states.js';

interface InboxProps {
  invoices: readonly ReceivedInvoice[];
  /** True while decisions are being sent. */
  busy: boolean;
  /** Opens the dialog of a decision. */
  ask: (asked: Asked) => void;
}

/** A page of received documents. Open ones are decided one by one, or several in one act. */
export function Inbox({ invoices, busy, ask }: InboxProps) {
  const [chosen, choose] = useState<ReadonlySet<number>>(new Set());
  const mayDecide = useAccount().data?.scopes.includes('approve') ?? false;
  const open = mayDecide ? invoices.filter(awaitsDecision) : [];
  const selected = open.filter(({ id }) => chosen.has(id));
  const toggle = (ids: readonly number[], on: boolean) =>
    choose(new Set(on ? [...chosen, ...ids] : [...chosen].filter((id) => !ids.includes(id))));
  const columns = useColumns({
    mayDecide,
    busy,
    ask,
    isChosen: ({ id }) => chosen.has(id),
    toggle: ({ id }, on) => toggle([id], on),
  });
  const words = useTranslations('received');
  return (
    <div className="inbox">
      {open.length > 0 && <Selection {...{ open, selected, busy, ask, toggle }} />}
      <Table caption={words('title')} columns={columns} rows={invoices} rowKey={({ id }) => String(id)} />
    </div>
  );
}

interface SelectionProps {
  open: readonly ReceivedInvoice[];
  selected: readonly ReceivedInvoice[];
  busy: boolean;
  ask: (asked: Asked) => void;
  toggle: (ids: readonly number[], on: boolean) => void;
}

function Selection({ open, selected, busy, ask, toggle }: SelectionProps) {
  const words = useTranslations('received');
  const { money } = useFormats();
  const ids = open.map(({ id }) => id);
  const total = selected.reduce((sum, { total_amount }) => sum + total_amount, 0);
  return (
    <div className="selection">
      <label>
        <input
          type="checkbox"
          checked={selected.length === open.length}
          onChange={({ target }) => toggle(ids, target.checked)}
        />
        {words('selectAll', { count: open.length })}
      </label>
      {selected.length > 0 && (
        <>
          <span className="quiet">{words('selected', { count: selected.length, total: money(total) })}</span>
          <button type="button" disabled={busy} onClick={() => ask({ kind: 'approve', invoices: selected })}>
            {words('approveMany')}
          </button>
          <button
            type="button"
            className="plain"
            disabled={busy}
            onClick={() => ask({ kind: 'reject', invoices: selected })}
          >
            {words('rejectMany')}
          </button>
        </>
      )}
    </div>
  );
}

interface Rows {
  mayDecide: boolean;
  busy: boolean;
  ask: (asked: Asked) => void;
  isChosen: (invoice: ReceivedInvoice) => boolean;
  toggle: (invoice: ReceivedInvoice, on: boolean) => void;
}

function useColumns({ mayDecide, busy, ask, isChosen, toggle }: Rows): Column<ReceivedInvoice>[] {
  const words = useTranslations('received');
  const list = useTranslations('invoices');
  const types = useTranslations('type');
  const { day, money } = useFormats();
  return [
    {
      head: list('encf'),
      cell: (invoice) => (
        <span className="pick">
          {mayDecide && (
            <input
              type="checkbox"
              aria-label={words('select', { encf: invoice.encf })}
              checked={isChosen(invoice)}
              disabled={!awaitsDecision(invoice)}
              onChange={({ target }) => toggle(invoice, target.checked)}
            />
          )}
          <span>
            <ReceivedLink invoice={invoice} />
            <small>{types.has(invoice.ecf_type as '31') ? types(invoice.ecf_type as '31') : invoice.ecf_type}</small>
          </span>
        </span>
      ),
    },
    { head: words('provider'), cell: (invoice) => <Provider invoice={invoice} /> },
    { head: words('date'), cell: ({ date_received }) => day(date_received) },
    { head: words('authority'), cell: (invoice) => <AuthorityState invoice={invoice} /> },
    { head: list('total'), cell: ({ total_amount }) => money(total_amount), amount: true },
    {
      head: words('approval'),
      cell: (invoice) => (
        <>
          <ApprovalState invoice={invoice} />
          {mayDecide && awaitsDecision(invoice) && <Buttons invoice={invoice} busy={busy} ask={ask} />}
        </>
      ),
    },
  ];
}

/** A link to the page of a received document. */
export function ReceivedLink({ invoice }: { invoice: Pick<ReceivedInvoice, 'buyer_rnc' | 'provider_rnc' | 'encf'> }) {
  const { buyer_rnc: rnc, provider_rnc: provider, encf } = invoice;
  return (
    <Link to="/received/$rnc/$provider/$encf" params={{ rnc, provider, encf }}>
      {encf}
    </Link>
  );
}

function Provider({ invoice: { provider_name, provider_rnc } }: { invoice: ReceivedInvoice }) {
  const { rnc } = useFormats();
  return (
    <>
      <span className="stranger" dir="auto">
        {provider_name}
      </span>
      <small>{rnc(provider_rnc)}</small>
    </>
  );
}

interface ButtonsProps {
  invoice: ReceivedInvoice;
  busy: boolean;
  ask: (asked: Asked) => void;
  /** True where the approval is the main act of the page. */
  main?: boolean;
}

/** The two decisions about one document. */
export function Buttons({ invoice, busy, ask, main }: ButtonsProps) {
  const words = useTranslations('received');
  return (
    <div className="decide">
      <button
        type="button"
        className={main ? 'main' : undefined}
        disabled={busy}
        onClick={() => ask({ kind: 'approve', invoices: [invoice] })}
      >
        {words('approve')}
      </button>
      <button
        type="button"
        className="plain"
        disabled={busy}
        onClick={() => ask({ kind: 'reject', invoices: [invoice] })}
      >
        {words('reject')}
      </button>
    </div>
  );
}
