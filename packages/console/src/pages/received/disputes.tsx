import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslations } from 'use-intl';
import { usePlace } from '../../data/place.js';
import { filesOf, oneReceivedKey, type ReceivedInvoice } from '../../data/received.js';
import { Choice } from '../../ui/field.js';
import { FileButton } from '../../ui/file-button.js';
import { useFormats } from '../../ui/format.js';
import { Trust } from './signer.js';
import { AuthorityState } from './states.js';

type Competing = ReceivedInvoice['conflicts'][number];

/** The received document beside another one with the same number; nothing if there is none. */
export function Disputes({ invoice }: { invoice: ReceivedInvoice }) {
  const words = useTranslations('received.disputes');
  const { moment } = useFormats();
  const [chosen, choose] = useState('');
  const { conflicts, conflicts_unkept, conflicts_total } = invoice;
  const other = conflicts.find(({ sha256 }) => sha256 === chosen) ?? conflicts[0];
  if (conflicts_total === 0) return null;
  return (
    <section className="disputes">
      <h2>{words('title')}</h2>
      <p>{words('hint', { count: conflicts_total })}</p>
      {conflicts.length > 1 && (
        <Choice
          label={words('choose')}
          value={other?.sha256 ?? ''}
          options={conflicts.map(({ sha256, date_received }) => [
            sha256,
            `${moment(date_received)} · ${sha256.slice(0, 12)}`,
          ])}
          onChange={choose}
        />
      )}
      {other && <Comparison invoice={invoice} other={other} />}
      {conflicts_unkept.length > 0 && <p className="quiet">{words('unkept', { count: conflicts_unkept.length })}</p>}
    </section>
  );
}

/** Two documents with the same number, field by field. */
function Comparison({ invoice, other }: { invoice: ReceivedInvoice; other: Competing }) {
  const words = useTranslations('received');
  const { moment, money } = useFormats();
  const files = filesOf(invoice, usePlace().env);
  const [kept, competing] = [useContent(invoice), useContent(invoice, other.sha256)];
  const rows: [head: string, kept: ReactNode, other: ReactNode][] = [
    [
      words('authority'),
      <AuthorityState key="kept" invoice={{ ...invoice, conflicts_total: 0 }} />,
      <AuthorityState key="other" invoice={{ ...other, conflicts_total: 0 }} />,
    ],
    [words('disputes.date'), moment(invoice.date_received), moment(other.date_received)],
    [words('disputes.issueDate'), kept.FechaEmision, competing.FechaEmision],
    [words('disputes.total'), amount(kept.MontoTotal), amount(competing.MontoTotal)],
    [words('disputes.signed'), kept.FechaHoraFirma, competing.FechaHoraFirma],
    [words('detail.subject'), invoice.signer.subject, other.signer.subject],
    [words('detail.issuer'), invoice.signer.issuer, other.signer.issuer],
    [words('detail.trust'), <Trust key="kept" signer={invoice.signer} />, <Trust key="other" signer={other.signer} />],
    [
      'XML',
      <FileButton key="kept" get={() => files.xml()} name={`${invoice.encf}.xml`}>
        {words('disputes.kept')}
      </FileButton>,
      <FileButton key="other" get={() => files.xml(other.sha256)} name={`${invoice.encf}-${other.sha256}.xml`}>
        {words('disputes.other')}
      </FileButton>,
    ],
    [words('disputes.sha256'), null, <code key="other">{other.sha256}</code>],
  ];
  function amount(text: string | undefined) {
    return text === undefined || Number.isNaN(Number(text)) ? text : money(text);
  }
  return (
    <div className="wide">
      <table>
        <caption className="unseen">{words('disputes.title')}</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">{words('disputes.kept')}</th>
            <th scope="col">{words('disputes.other')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(([head, ...cells]) => (
            <tr key={head} className={cells[0] !== cells[1] && typeof cells[1] === 'string' ? 'differs' : undefined}>
              <th scope="row">{head}</th>
              {cells.map((cell, at) => (
                <td key={at === 0 ? 'kept' : 'other'} dir="auto">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const COMPARED = ['FechaEmision', 'MontoTotal', 'FechaHoraFirma'] as const;

/** What a document states, read from its XML. */
function useContent(invoice: ReceivedInvoice, sha256?: string): Partial<Record<(typeof COMPARED)[number], string>> {
  const { env } = usePlace();
  const { data } = useQuery({
    queryKey: ['received xml', ...oneReceivedKey(invoice, env), sha256 ?? invoice.id],
    queryFn: async () => {
      const text = await (await filesOf(invoice, env).xml(sha256)).text();
      const xml = new DOMParser().parseFromString(text, 'application/xml');
      return Object.fromEntries(COMPARED.map((name) => [name, xml.querySelector(name)?.textContent ?? undefined]));
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? {};
}
