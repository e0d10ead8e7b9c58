import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { sentencesOf } from '../../data/answer.js';
import { type Cancellation, cancellationXml, useCancellation } from '../../data/cancellations.js';
import { FileButton } from '../../ui/file-button.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { type Column, Table } from '../../ui/table.js';
import { CancellationState } from './state.js';

const route = getRouteApi('/cancellations/$id');

/** One cancellation: its ranges with the outcome of each, the authority's answer, and the signed XML. */
export function CancellationPage() {
  const words = useTranslations('cancellations');
  const cancellation = useCancellation(Number(route.useParams().id));
  return (
    <>
      <p className="quiet">
        <Link to="/cancellations">{words('title')}</Link>
      </p>
      <Loaded query={cancellation}>
        {(data) => (
          <>
            <Heading cancellation={data} />
            <Answer cancellation={data} />
            <section>
              <h2>{words('numbers')}</h2>
              <Ranges cancellation={data} />
            </section>
          </>
        )}
      </Loaded>
    </>
  );
}

function Heading({ cancellation }: { cancellation: Cancellation }) {
  const words = useTranslations('cancellations');
  const invoice = useTranslations('invoice');
  const { moment, rnc } = useFormats();
  const { id, total_encf_canceled, created_at, issuer_rnc, authority_environment, authority_status } = cancellation;
  return (
    <header className="heading">
      <div>
        <p className="quiet">{`${rnc(issuer_rnc)} · ${authority_environment} · ${moment(created_at)}`}</p>
        <h1>{words('one', { id: String(id) })}</h1>
        {cancellation.cancellation_reason !== null && (
          <p className="stranger" dir="auto">
            {cancellation.cancellation_reason}
          </p>
        )}
      </div>
      <div className="amount">
        <p className="big">{words('quantity', { count: total_encf_canceled })}</p>
        <CancellationState status={authority_status} />
        <p className="files">
          <FileButton get={() => cancellationXml(id)} name={`anecf-${id}.xml`}>
            {invoice('xml')}
          </FileButton>
        </p>
      </div>
    </header>
  );
}

/** What the state means for the numbers, and what the authority said. */
function Answer({ cancellation: { authority_status, authority_response } }: { cancellation: Cancellation }) {
  const words = useTranslations('cancellations');
  const sentences = sentencesOf(authority_response);
  return (
    <section className={authority_status === 'Aceptado' ? undefined : 'messages'}>
      <p>{words(`meaning.${authority_status ?? 'none'}`)}</p>
      {sentences.length > 0 && (
        <>
          <h2>{words('answer')}</h2>
          {sentences.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </>
      )}
    </section>
  );
}

/** Most ranges that the page shows; the XML has all of them. */
const SHOWN_RANGES = 500;

function Ranges({ cancellation: { detail_lines } }: { cancellation: Cancellation }) {
  const words = useTranslations('cancellations');
  const types = useTranslations('type');
  const { number } = useFormats();
  const ranges = detail_lines.flatMap(({ ecf_type, sequence_ranges }) =>
    sequence_ranges.map((range) => ({ ...range, ecf_type })),
  );
  const columns: Column<(typeof ranges)[number]>[] = [
    {
      head: words('from'),
      cell: ({ encf_desde, ecf_type }) => (
        <>
          {encf_desde}
          <small>{types(ecf_type)}</small>
        </>
      ),
    },
    { head: words('to'), cell: ({ encf_hasta }) => encf_hasta },
    { head: words('count'), cell: ({ quantity_canceled }) => number(quantity_canceled), amount: true },
    {
      head: words('state'),
      cell: ({ authority_status }) => authority_status && <CancellationState status={authority_status} />,
    },
  ];
  return (
    <>
      <Table
        caption={words('numbers')}
        columns={columns}
        rows={ranges.slice(0, SHOWN_RANGES)}
        rowKey={({ id }) => String(id)}
      />
      {ranges.length > SHOWN_RANGES && (
        <p className="quiet">{words('inXml', { count: ranges.length - SHOWN_RANGES })}</p>
      )}
    </>
  );
}
