import { useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { fileOf, type Invoice, useInvoice } from '../../data/invoices.js';
import { usePlace } from '../../data/place.js';
import { save, show } from '../../ui/files.js';
import { useFormats } from '../../ui/format.js';
import { Loaded, problemText } from '../../ui/loaded.js';
import { Status } from '../../ui/status.js';
import { Lines } from './lines.js';

const route = getRouteApi('/invoices/$rnc/$encf');

/** One issued document: what it says, where it is, and what happened to it. */
export function InvoicePage() {
  const { rnc, encf } = route.useParams();
  const words = useTranslations();
  const { invoice, document, attempts } = useInvoice(rnc, encf);
  return (
    <>
      <p className="quiet">
        <Link to="/invoices">{words('invoice.back')}</Link>
      </p>
      <Loaded query={invoice}>
        {(data) => (
          <>
            <Heading invoice={data} />
            <Messages messages={data.messages} />
            <div className="columns document">
              <section>
                <h2>{words('invoice.lines')}</h2>
                <Loaded query={document}>{(issued) => <Lines document={issued.ECF} />}</Loaded>
              </section>
              <section>
                <h2>{words('invoice.history')}</h2>
                <History invoice={data} attempts={attempts.data?.track_ids ?? []} />
              </section>
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function Heading({ invoice }: { invoice: Invoice }) {
  const words = useTranslations();
  const { money, rnc } = useFormats();
  const { encf, ecf_type, buyer_name, buyer_rnc, total_amount, status } = invoice;
  return (
    <header className="heading">
      <div>
        <p className="quiet">{words(`type.${ecf_type}`)}</p>
        <h1>{encf}</h1>
        <p>
          {buyer_name ?? words('overview.noBuyer')}
          {buyer_rnc !== null && <span className="quiet"> {rnc(buyer_rnc)}</span>}
        </p>
      </div>
      <div className="amount">
        <p className="big">{money(total_amount)}</p>
        <Status status={status} />
        <Files invoice={invoice} />
      </div>
    </header>
  );
}

function Files({ invoice: { encf, issuer_rnc } }: { invoice: Invoice }) {
  const words = useTranslations();
  const state = useTranslations('state');
  const { env } = usePlace();
  const open = useMutation({
    mutationFn: async (path: string) => {
      const file = await fileOf(path, { env, rnc: issuer_rnc });
      if (path.endsWith('/pdf')) show(file);
      else save(`${encf}.xml`, file);
    },
  });
  return (
    <p className="files">
      <button type="button" onClick={() => open.mutate(`/invoices/${encf}/pdf`)}>
        {words('invoice.printed')}
      </button>
      <button type="button" className="plain" onClick={() => open.mutate(`/${encf}/xml?issuer_rnc=${issuer_rnc}`)}>
        {words('invoice.xml')}
      </button>
      {open.error && <span role="alert">{problemText(open.error, state)}</span>}
    </p>
  );
}

function Messages({ messages }: { messages: Invoice['messages'] }) {
  const words = useTranslations('invoice');
  if (messages.length === 0) return null;
  return (
    <section className="messages">
      <h2>{words('messages')}</h2>
      <ul>
        {messages.map(({ codigo, valor }) => (
          <li key={`${codigo} ${valor}`}>
            <code>{codigo}</code> {valor}
          </li>
        ))}
      </ul>
    </section>
  );
}

type Attempts = NonNullable<ReturnType<typeof useInvoice>['attempts']['data']>['track_ids'];

function History({ invoice, attempts }: { invoice: Invoice; attempts: Attempts }) {
  const words = useTranslations('invoice');
  const statuses = useTranslations('status');
  const list = useTranslations('invoices');
  const { moment } = useFormats();
  const { created_at, signed_at, delivery_status, approval_status, security_code, modified_encf, reference } = invoice;
  return (
    <>
      <ol className="history">
        <li>
          <span>{words('created')}</span>
          <time>{moment(created_at)}</time>
        </li>
        <li>
          <span>{words('signed')}</span>
          <time>{moment(signed_at)}</time>
        </li>
        {attempts.map(({ attempt, submitted_at, status, track_id }) => (
          <li key={attempt}>
            <span>{words('submitted')}</span>
            {submitted_at !== null && <time>{moment(submitted_at)}</time>}
            <small>{words('answered', { status: statuses(status) })}</small>
            {track_id !== null && <small className="code">{track_id}</small>}
          </li>
        ))}
        <li>
          <span>{words('delivery')}</span>
          <small>{words(`delivered.${delivery_status}`)}</small>
        </li>
        {approval_status !== null && (
          <li>
            <span>{words('approval')}</span>
            <small>{words(`approved.${approval_status}`)}</small>
          </li>
        )}
      </ol>
      <dl className="pairs">
        <dt>{words('securityCode')}</dt>
        <dd>
          <code>{security_code}</code>
        </dd>
        {modified_encf !== null && (
          <>
            <dt>{words('modified')}</dt>
            <dd>
              <Link to="/invoices/$rnc/$encf" params={{ rnc: invoice.issuer_rnc, encf: modified_encf }}>
                {modified_encf}
              </Link>
            </dd>
          </>
        )}
        {reference !== null && (
          <>
            <dt>{list('reference')}</dt>
            <dd>{reference}</dd>
          </>
        )}
      </dl>
    </>
  );
}
