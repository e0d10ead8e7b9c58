import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import type { Event } from '../../data/events.js';

/** A link to the document that an event is about, or to the page of the other things that an event may be about. */
export function DocumentLink({ event: { type, subject } }: { event: Event }) {
  const nav = useTranslations('nav');
  const { issuer_rnc: issuer, buyer_rnc: buyer, provider_rnc: provider, encf } = subject;
  if (encf !== null && issuer !== undefined)
    return (
      <Link to="/invoices/$rnc/$encf" params={{ rnc: issuer, encf }}>
        {encf}
      </Link>
    );
  // A document that was refused is not kept.
  if (encf !== null && type === 'received.refused') return <span>{encf}</span>;
  if (encf !== null && buyer !== undefined && provider !== undefined)
    return (
      <Link to="/received/$rnc/$provider/$encf" params={{ rnc: buyer, provider, encf }}>
        {encf}
      </Link>
    );
  const page = PAGES[type.split('.')[0] as keyof typeof PAGES];
  return page === undefined ? null : <Link to={`/${page}`}>{nav(page)}</Link>;
}

const PAGES = {
  batch: 'batches',
  cancellation: 'cancellations',
  contingency: 'contingency',
  range: 'settings',
  certificate: 'settings',
} as const;
