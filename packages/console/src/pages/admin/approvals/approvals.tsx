import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useAdmin } from '../../../data/admin/gateway.js';
import {
  APPROVALS_SHOWN,
  type ApprovalsShown,
  type GivenApproval,
  listApprovals,
  retryApproval,
  settleApproval,
} from '../../../data/admin/work.js';
import { Choice } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act, Reason, textOf } from '../act.js';
import { Pages } from '../pages.js';

const route = getRouteApi('/admin/approvals');

/** Our approvals that the authority did not decide, that did not reach their issuer, or that a person settled. */
export function Approvals() {
  const words = useTranslations('admin.approvals');
  const { after, show } = route.useSearch();
  const shown = APPROVALS_SHOWN.find((one) => one === show) ?? 'undecided';
  const page = useAdmin(['approvals', shown, after], () => listApprovals(shown, after));
  return (
    <>
      <h1>{words('title')}</h1>
      <nav className="tabs" aria-label={words('title')}>
        {APPROVALS_SHOWN.map((one) => (
          <Link
            key={one}
            to="/admin/approvals"
            search={one === 'undecided' ? {} : { show: one }}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {words(`show.${one}`)}
          </Link>
        ))}
      </nav>
      <p className="quiet prose">{words(`hints.${shown}`)}</p>
      <Loaded query={page}>
        {({ approvals, next }) => (
          <>
            {approvals.length === 0 ? (
              <p className="quiet">{words('empty')}</p>
            ) : (
              <Rows rows={approvals} shown={shown} />
            )}
            <Pages label={words('pages')} by="after" isFirst={after === undefined} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Rows({ rows, shown }: { rows: readonly GivenApproval[]; shown: ApprovalsShown }) {
  const words = useTranslations('admin.approvals');
  const { moment, rnc } = useFormats();
  const columns: Column<GivenApproval>[] = [
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
      head: words('parties'),
      cell: ({ receiver_rnc, issuer_rnc }) => (
        <>
          {rnc(receiver_rnc)}
          <small>{words('to', { rnc: rnc(issuer_rnc) })}</small>
        </>
      ),
    },
    { head: words('decision'), cell: ({ approval_status }) => words(`decisions.${approval_status}`) },
    {
      head: words('answer'),
      cell: ({ authority_response, issuer_delivery_error }) => (
        <bdi className="code">
          {(shown === 'undelivered' ? issuer_delivery_error : authority_response) ?? words('noAnswer')}
        </bdi>
      ),
    },
    { head: words('sent'), cell: ({ submitted_at }) => moment(submitted_at) },
    { head: words('acts'), cell: (approval) => <Acts approval={approval} shown={shown} /> },
  ];
  return <Table caption={words('title')} columns={columns} rows={rows} rowKey={({ id }) => String(id)} />;
}

function Acts({ approval: { id, encf, settled_at, note }, shown }: { approval: GivenApproval; shown: ApprovalsShown }) {
  const words = useTranslations('admin.approvals');
  const { moment } = useFormats();
  const [outcome, choose] = useState<'accepted' | 'rejected'>('accepted');
  if (shown === 'undelivered')
    return <Act name={words('retry')} of={encf} effect={words('retryEffect')} act={() => retryApproval(id)} />;
  if (settled_at !== null)
    return (
      <>
        {moment(settled_at)}
        <small dir="auto">{note}</small>
      </>
    );
  return (
    <Act
      name={words('settle')}
      of={encf}
      effect={words(`effects.${outcome}`)}
      act={(form) => settleApproval(id, outcome, textOf(form, 'note'))}
    >
      <Choice
        label={words('found')}
        value={outcome}
        options={(['accepted', 'rejected'] as const).map((one) => [one, words(`outcomes.${one}`)])}
        onChange={(chosen) => choose(chosen as typeof outcome)}
      />
      <Reason name="note" />
    </Act>
  );
}
