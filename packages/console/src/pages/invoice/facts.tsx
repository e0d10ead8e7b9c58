import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslations } from 'use-intl';
import { type Invoice, useNotes, useQr } from '../../data/invoices.js';
import { useFormats } from '../../ui/format.js';
import { Status } from '../../ui/status.js';

/** The security code with its QR code, and the documents that belong to this one. */
export function Facts({ invoice }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const list = useTranslations('invoices');
  const { issuer_rnc: rnc, security_code, qr_url, modified_encf, reference } = invoice;
  return (
    <>
      <dl className="pairs">
        <dt>{words('securityCode')}</dt>
        <dd>
          <code>{security_code}</code>
        </dd>
        {modified_encf !== null && (
          <>
            <dt>{words('modified')}</dt>
            <dd>
              <Link to="/invoices/$rnc/$encf" params={{ rnc, encf: modified_encf }}>
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
      <Notes invoice={invoice} />
      <Qr invoice={invoice} />
      <a href={qr_url} target="_blank" rel="noreferrer">
        {words('confirm')}
      </a>
    </>
  );
}

/** The notes that modify the document. */
function Notes({ invoice }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const { money } = useFormats();
  const { data: notes = [] } = useNotes(invoice);
  if (notes.length === 0) return null;
  return (
    <>
      <h2>{words('notes')}</h2>
      <ul className="notes">
        {notes.map(({ encf, total_amount, status }) => (
          <li key={encf}>
            <Link to="/invoices/$rnc/$encf" params={{ rnc: invoice.issuer_rnc, encf }}>
              {encf}
            </Link>
            <small>
              {money(total_amount)} <Status status={status} />
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The QR code. Its SVG is drawn as elements of the page, because the policy of the pages allows no picture from memory. */
function Qr({ invoice }: { invoice: Invoice }) {
  const words = useTranslations('invoice');
  const { data: text } = useQr(invoice);
  const svg = useMemo(() => text && new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, [text]);
  if (!svg) return null;
  return (
    <svg className="qr" viewBox={svg.getAttribute('viewBox') ?? ''} shapeRendering="crispEdges" role="img">
      <title>{words('qr')}</title>
      {[...svg.querySelectorAll('path')].map((path) => (
        <path
          key={path.getAttribute('d')}
          fill={path.getAttribute('fill') ?? '#000'}
          d={path.getAttribute('d') ?? ''}
        />
      ))}
    </svg>
  );
}
