import { getRouteApi, Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { GatewayError } from '../../data/gateway.js';
import { type Invoice, useInvoice, useInvoiceDocument } from '../../data/invoices.js';
import { usePlace } from '../../data/place.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { Status } from '../../ui/status.js';
import { Actions, Files } from './actions.js';
import { Facts } from './facts.js';
import { History } from './history.js';
import './invoice.css';
import { Lines } from './lines.js';
import { Messages } from './messages.js';

const route = getRouteApi('/invoices/$rnc/$encf');

/** One issued document: what it says, where it is, and what happened to it. */
export function InvoicePage() {
  const { rnc, encf } = route.useParams();
  const words = useTranslations('invoice');
  const invoice = useInvoice(rnc, encf);
  const document = useInvoiceDocument(rnc, invoice.data && encf);
  if (invoice.error instanceof GatewayError && invoice.error.status === 404) return <Missing rnc={rnc} encf={encf} />;
  return (
    <>
      <p className="quiet">
        <Link to="/invoices">{words('back')}</Link>
      </p>
      <Loaded query={invoice}>
        {(data) => (
          <>
            <Heading invoice={data} />
            <div className="files">
              <Actions invoice={data} />
              <Files invoice={data} />
            </div>
            <Messages invoice={data} />
            <div className="columns document">
              <section>
                <h2>{words('lines')}</h2>
                <Loaded query={document}>{({ ECF, RFCE }) => <Lines document={ECF ?? RFCE} />}</Loaded>
              </section>
              <section>
                <h2>{words('history')}</h2>
                <History invoice={data} />
                <Facts invoice={data} />
              </section>
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

function Missing({ rnc, encf }: { rnc: string; encf: string }) {
  const words = useTranslations('invoice');
  const formats = useFormats();
  const { env } = usePlace();
  return (
    <div className="problem">
      <h1>{words('missing', { encf })}</h1>
      <p>{words('missingWhat', { rnc: formats.rnc(rnc), env })}</p>
      <Link to="/invoices">{words('toList')}</Link>
    </div>
  );
}

function Heading({ invoice }: { invoice: Invoice }) {
  const words = useTranslations();
  const { money, rnc, day } = useFormats();
  const { encf, ecf_type, buyer_name, buyer_rnc, date_issued, total_amount, status } = invoice;
  return (
    <header className="heading">
      <div className="party">
        <p className="quiet">
          {words(`type.${ecf_type}`)} · {day(date_issued)}
        </p>
        <h1>{encf}</h1>
        <p dir="auto">
          {buyer_name ?? words('overview.noBuyer')}
          {buyer_rnc !== null && <span className="quiet"> {rnc(buyer_rnc)}</span>}
        </p>
      </div>
      <div className="amount">
        <p className="big">{money(total_amount)}</p>
        <Status status={status} />
      </div>
    </header>
  );
}
