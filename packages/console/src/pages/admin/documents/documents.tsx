import { canTransition, type EmissionState } from '@ecf/domain';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useAdmin } from '../../../data/admin/gateway.js';
import { type AlarmedDocument, listAlarmed, resolveDocument } from '../../../data/admin/work.js';
import { Choice, Field } from '../../../ui/field.js';
import { useFormats } from '../../../ui/format.js';
import { Loaded } from '../../../ui/loaded.js';
import { type Column, Table } from '../../../ui/table.js';
import { Act, textOf } from '../act.js';
import { Pages } from '../pages.js';

const route = getRouteApi('/admin/documents');

/** Documents whose outcome only a person can find out. */
export function Documents() {
  const words = useTranslations('admin.documents');
  const { after } = route.useSearch();
  const documents = useAdmin(['documents', after], () => listAlarmed(after));
  return (
    <>
      <header className="heading">
        <h1>{words('title')}</h1>
      </header>
      <p className="quiet prose">{words('hint')}</p>
      <Loaded query={documents}>
        {({ documents, next }) => (
          <>
            {documents.length === 0 ? <p className="status good">{words('empty')}</p> : <Rows rows={documents} />}
            <Pages label={words('title')} by="after" isFirst={after === undefined} next={next} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Rows({ rows }: { rows: readonly AlarmedDocument[] }) {
  const words = useTranslations('admin.documents');
  const { moment, rnc } = useFormats();
  const columns: Column<AlarmedDocument>[] = [
    {
      head: words('encf'),
      cell: ({ encf, env }) => (
        <>
          <span className="whole">{encf}</span>
          <small>{env}</small>
        </>
      ),
    },
    { head: words('issuer'), cell: ({ issuer_rnc }) => rnc(issuer_rnc) },
    {
      head: words('alarm'),
      cell: ({ alarm }) =>
        words.has(`alarms.${alarm as 'no-query'}`) ? words(`alarms.${alarm as 'no-query'}`) : alarm,
    },
    { head: words('since'), cell: ({ committed_at }) => moment(committed_at) },
    { head: words('acts'), cell: (document) => <Resolve document={document} /> },
  ];
  return (
    <Table
      caption={words('title')}
      columns={columns}
      rows={rows}
      rowKey={({ env, issuer_rnc, encf, run }) => `${env} ${issuer_rnc} ${encf} ${run}`}
    />
  );
}

const ACTS = [
  { name: 'adopt', event: 'in-process' },
  { name: 'resend', event: 'cleared-to-resend' },
] as const;

/** What a person may decide about the document in its present state; nothing where another act than a decision helps. */
function Resolve({ document }: { document: AlarmedDocument }) {
  const words = useTranslations('admin.documents');
  const acts = ACTS.filter(({ event }) => canTransition(document.state as EmissionState, event));
  const [action, choose] = useState(acts[0]?.name);
  if (action === undefined) return null;
  return (
    <Act
      name={words('resolve')}
      of={document.encf}
      effect={words(`${action}Effect`)}
      act={(form) => resolveDocument(document, action === 'adopt' ? textOf(form, 'track_id') : null)}
    >
      <Choice
        label={words('found')}
        value={action}
        options={acts.map(({ name }) => [name, words(name)])}
        onChange={(chosen) => choose(chosen as typeof action)}
      />
      {action === 'adopt' && (
        <Field label={words('trackId')}>
          {(ids) => <input {...ids} name="track_id" required maxLength={64} autoComplete="off" />}
        </Field>
      )}
    </Act>
  );
}
