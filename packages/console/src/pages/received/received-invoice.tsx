import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { useDecisions } from '../../data/decisions.js';
import { useAccount, usePlace } from '../../data/place.js';
import { awaitsDecision, filesOf, type ReceivedInvoice, useReceivedInvoice } from '../../data/received.js';
import { FileButton } from '../../ui/file-button.js';
import { useFormats } from '../../ui/format.js';
import { Loaded } from '../../ui/loaded.js';
import { Lines } from '../invoice/lines.js';
import { type Asked, Decide } from './decide.js';
import { Disputes } from './disputes.js';
import { History } from './history.js';
import { Buttons } from './inbox.js';
import './received.css';
import { Results } from './results.js';
import { Signer } from './signer.js';
import { ApprovalState, AuthorityState } from './states.js';

const route = getRouteApi('/received/$rnc/$provider/$encf');

/** One received document: what it says, who signed it, what the authority says about it, and the decision of the buyer. */
export function ReceivedInvoicePage() {
  const { rnc: buyer_rnc, provider: provider_rnc, encf } = route.useParams();
  const words = useTranslations();
  const { invoice, document, decisions } = useReceivedInvoice({ buyer_rnc, provider_rnc, encf });
  const acts = useDecisions();
  const [asked, ask] = useState<Asked | null>(null);
  return (
    <>
      <p className="quiet">
        <Link to="/received">{words('received.detail.back')}</Link>
      </p>
      <Loaded query={invoice}>
        {(data) => (
          <>
            <Heading invoice={data} busy={acts.busy} ask={ask} />
            <Results acts={acts} />
            <Confirmation invoice={data} />
            <Disputes invoice={data} />
            <div className="columns document">
              <section>
                <h2>{words('invoice.lines')}</h2>
                <Loaded query={document}>{({ ECF }) => <Lines document={ECF} />}</Loaded>
              </section>
              <section>
                <h2>{words('invoice.history')}</h2>
                <Loaded query={decisions}>{(made) => <History invoice={data} decisions={made} />}</Loaded>
                <h2>{words('received.detail.signer')}</h2>
                <Signer signer={data.signer} />
              </section>
            </div>
          </>
        )}
      </Loaded>
      <Decide asked={asked} onClose={() => ask(null)} decide={acts.decide} />
    </>
  );
}

interface HeadingProps {
  invoice: ReceivedInvoice;
  busy: boolean;
  ask: (asked: Asked) => void;
}

function Heading({ invoice, busy, ask }: HeadingProps) {
  const words = useTranslations();
  const types = useTranslations('type');
  const { money, rnc } = useFormats();
  const mayDecide = useAccount().data?.scopes.includes('approve') ?? false;
  const { encf, ecf_type, provider_name, provider_rnc, total_amount } = invoice;
  return (
    <header className="heading">
      <div>
        <p className="quiet">{types.has(ecf_type as '31') ? types(ecf_type as '31') : ecf_type}</p>
        <h1>{encf}</h1>
        <p className="stranger" dir="auto">
          {provider_name}
        </p>
        <p className="quiet">
          {rnc(provider_rnc)}{' '}
          <Link to="/received" search={{ provider: provider_rnc }}>
            {words('received.detail.all')}
          </Link>
        </p>
      </div>
      <div className="amount">
        <p className="big">{money(total_amount)}</p>
        <ApprovalState invoice={invoice} />
        {mayDecide && awaitsDecision(invoice) && <Buttons invoice={invoice} busy={busy} ask={ask} main />}
        <Files invoice={invoice} />
      </div>
    </header>
  );
}

function Files({ invoice }: { invoice: ReceivedInvoice }) {
  const words = useTranslations('invoice');
  const files = filesOf(invoice, usePlace().env);
  return (
    <div className="files">
      <FileButton get={files.printed}>{words('printed')}</FileButton>
      <FileButton className="plain" get={() => files.xml()} name={`${invoice.provider_rnc}${invoice.encf}.xml`}>
        {words('xml')}
      </FileButton>
    </div>
  );
}

/** What the authority says about the document, what follows from it, and what the checks found. */
function Confirmation({ invoice }: { invoice: ReceivedInvoice }) {
  const words = useTranslations('received');
  const { moment } = useFormats();
  const { authority_status, authority_checked_at, warnings } = invoice;
  return (
    <section className={authority_status === 'confirmed' && warnings.length === 0 ? undefined : 'messages'}>
      <h2>{words('authority')}</h2>
      <div>
        <AuthorityState invoice={invoice} />
        <p>{words(`confirmation.${authority_status}`)}</p>
        {authority_checked_at !== null && (
          <p className="quiet">
            {words('detail.checked')} <time>{moment(authority_checked_at)}</time>
          </p>
        )}
      </div>
      {warnings.length > 0 && (
        <>
          <h2>{words('detail.warnings')}</h2>
          <ul>
            {warnings.map(({ path, rule, message }) => (
              <li key={`${rule} ${path} ${message}`} className="stranger">
                {message}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
