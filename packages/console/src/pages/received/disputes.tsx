import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useTranslations } from 'use-intl';
import { sha256 as checksum } from '../../data/digest.js';
import { usePlace } from '../../data/place.js';
import { filesOf, oneReceivedKey, type ReceivedInvoice } from '../../data/received.js';
import { Choice } from '../../ui/field.js';
import { FileButton } from '../../ui/file-button.js';
import { useFormats } from '../../ui/format.js';
import { Holder, Trust } from './signer.js';
import { AuthorityState } from './states.js';

type Competing = ReceivedInvoice['conflicts'][number];

interface Row {
  readonly head: string;
  readonly cells: readonly [kept: ReactNode, other: ReactNode];
  readonly differs?: boolean;
}

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
  const { moment } = useFormats();
  const files = filesOf(invoice, usePlace().env);
  const [kept, competing] = [useContent(invoice), useContent(invoice, other.sha256)];
  const same = (name: 'subject' | 'issuer') => invoice.signer[name] === other.signer[name];
  const rows: Row[] = [
    {
      head: words('authority'),
      cells: [
        <AuthorityState key="kept" invoice={{ ...invoice, conflicts_total: 0 }} />,
        <AuthorityState key="other" invoice={{ ...other, conflicts_total: 0 }} />,
      ],
    },
    { head: words('disputes.date'), cells: [moment(invoice.date_received), moment(other.date_received)] },
    ...CONTENT.map((name) => ({
      head: words(`disputes.content.${name}`),
      cells: [kept[name], competing[name]] as const,
      differs: kept[name] !== competing[name],
    })),
    {
      head: words('detail.subject'),
      cells: [<Holder key="kept" name={invoice.signer.subject} />, <Holder key="other" name={other.signer.subject} />],
      differs: !same('subject'),
    },
    {
      head: words('detail.issuer'),
      cells: [<Holder key="kept" name={invoice.signer.issuer} />, <Holder key="other" name={other.signer.issuer} />],
      differs: !same('issuer'),
    },
    {
      head: words('detail.trust'),
      cells: [<Trust key="kept" signer={invoice.signer} />, <Trust key="other" signer={other.signer} />],
    },
    {
      head: 'XML',
      cells: [
        <FileButton key="kept" get={() => files.xml()} name={`${invoice.encf}.xml`}>
          {words('disputes.kept')}
        </FileButton>,
        <FileButton key="other" get={() => files.xml(other.sha256)} name={`${invoice.encf}-${other.sha256}.xml`}>
          {words('disputes.other')}
        </FileButton>,
      ],
    },
    {
      head: words('disputes.sha256'),
      cells: [<code key="kept">{kept.sha256}</code>, <code key="other">{other.sha256}</code>],
    },
  ];
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
          {rows.map(({ head, cells: [kept, other], differs }) => (
            <tr key={head} className={differs ? 'differs' : undefined}>
              <th scope="row">{head}</th>
              <td dir="auto">{kept}</td>
              <td dir="auto">{other}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Elements of a document by which two are compared. */
const CONTENT = ['FechaEmision', 'MontoTotal', 'FechaHoraFirma'] as const;

type Content = { [Name in (typeof CONTENT)[number] | 'sha256']?: string | undefined };

/** What a document states, as its XML has it, and the checksum of the XML. */
function useContent(invoice: ReceivedInvoice, sha256?: string): Content {
  const { env } = usePlace();
  const { data } = useQuery({
    queryKey: ['received xml', ...oneReceivedKey(invoice, env), sha256 ?? invoice.id],
    queryFn: async (): Promise<Content> => {
      const file = await filesOf(invoice, env).xml(sha256);
      const xml = new DOMParser().parseFromString(await file.text(), 'application/xml');
      const content = CONTENT.map((name) => [name, xml.querySelector(name)?.textContent ?? undefined]);
      return { ...Object.fromEntries(content), sha256: checksum(new Uint8Array(await file.arrayBuffer())) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? {};
}
