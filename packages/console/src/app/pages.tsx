import { Link } from '@tanstack/react-router';
import { Activity, Ban, FileText, Inbox, Layers, LayoutDashboard, PlugZap, Send, Settings } from 'lucide-react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../data/gateway.js';

type Scopes = Schemas['OwnAccount']['scopes'];
type Scope = Scopes[number];

/** The pages by subject, each with the scopes of which one is enough to see it. */
const GROUPS = [
  [{ to: '/', name: 'overview', icon: LayoutDashboard, scopes: null }],
  [
    { to: '/invoices', name: 'invoices', icon: FileText, scopes: ['read', 'submit'] },
    { to: '/received', name: 'received', icon: Inbox, scopes: ['receive'] },
    { to: '/batches', name: 'batches', icon: Layers, scopes: ['submit', 'read'] },
    { to: '/cancellations', name: 'cancellations', icon: Ban, scopes: ['cancel', 'read'] },
  ],
  [
    { to: '/deliveries', name: 'deliveries', icon: Send, scopes: ['read', 'submit'] },
    { to: '/contingency', name: 'contingency', icon: PlugZap, scopes: ['read', 'submit'] },
    { to: '/events', name: 'events', icon: Activity, scopes: ['read'] },
  ],
  [{ to: '/settings', name: 'settings', icon: Settings, scopes: ['manage'] }],
] as const;

const isOpenTo = (scopes: Scopes, needed: readonly Scope[] | null) =>
  needed === null || needed.some((scope) => scopes.includes(scope));

/** The page at an address, or above it; undefined for an address without one. */
export function pageAt(path: string) {
  const page = GROUPS.flat().find(({ to }) => path === to || path.startsWith(`${to}/`));
  return page && { name: page.name, isOpenTo: (scopes: Scopes) => isOpenTo(scopes, page.scopes) };
}

/** Links to the pages that these scopes open. */
export function PageLinks({ scopes }: { scopes: Scopes }) {
  const words = useTranslations('nav');
  return GROUPS.map((pages) => (
    <ul key={pages[0].to}>
      {pages
        .filter((page) => isOpenTo(scopes, page.scopes))
        .map(({ to, name, icon: Icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/' }}>
              <Icon size={17} aria-hidden="true" />
              {words(name)}
            </Link>
          </li>
        ))}
    </ul>
  ));
}
