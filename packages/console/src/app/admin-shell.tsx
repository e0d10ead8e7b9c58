import { Link, Outlet, useLocation } from '@tanstack/react-router';
import {
  Ban,
  Building2,
  CircleCheck,
  FileWarning,
  Gauge,
  type LucideIcon,
  ScrollText,
  Send,
  Server,
  Users,
} from 'lucide-react';
import { useTranslations } from 'use-intl';
import { type Role, RoleContext, useHasRole } from '../data/admin/gateway.js';
import type { Session } from '../data/session.js';
import { Main } from './main.js';
import { useTitle } from './page-change.js';
import { Person } from './person.js';
import { Side } from './side.js';
import { SignedIn } from './signed-in.js';
import '../pages/admin/admin.css';

/** The pages by subject. */
const GROUPS = [
  [
    { to: '/admin', name: 'state', icon: Gauge, needs: 'viewer' },
    { to: '/admin/accounts', name: 'accounts', icon: Building2, needs: 'viewer' },
  ],
  [
    { to: '/admin/documents', name: 'documents', icon: FileWarning, needs: 'viewer' },
    { to: '/admin/deliveries', name: 'deliveries', icon: Send, needs: 'viewer' },
    { to: '/admin/cancellations', name: 'cancellations', icon: Ban, needs: 'viewer' },
    { to: '/admin/approvals', name: 'approvals', icon: CircleCheck, needs: 'viewer' },
  ],
  [
    { to: '/admin/audit', name: 'audit', icon: ScrollText, needs: 'viewer' },
    { to: '/admin/administrators', name: 'administrators', icon: Users, needs: 'owner' },
    { to: '/admin/deployment', name: 'deployment', icon: Server, needs: 'viewer' },
  ],
] as const satisfies readonly (readonly { to: string; name: string; icon: LucideIcon; needs: Role }[])[];

/** The frame of the administration's pages: who is signed in, in which role, and the way to the other pages. */
export function AdminShell() {
  return (
    <SignedIn kind="administrator">
      {(session) => (
        <RoleContext value={session.role ?? 'viewer'}>
          <Frame session={session} />
        </RoleContext>
      )}
    </SignedIn>
  );
}

function Frame({ session }: { session: Session }) {
  const words = useTranslations('admin');
  const { pathname } = useLocation();
  const page = GROUPS.flat().findLast(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
  useTitle(page && words(`nav.${page.name}`), words('title'));
  return (
    <>
      <Side home="/admin" name={words('title')} links={<Links />}>
        <div className="push" />
        <Person session={session} />
      </Side>
      <Main>
        <Outlet />
      </Main>
    </>
  );
}

function Links() {
  const words = useTranslations('admin.nav');
  const isOwner = useHasRole('owner');
  return GROUPS.map((pages) => (
    <ul key={pages[0].to}>
      {pages
        .filter(({ needs }) => needs === 'viewer' || isOwner)
        .map(({ to, name, icon: Icon }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/admin' }}>
              <Icon size={17} aria-hidden="true" />
              {words(name)}
            </Link>
          </li>
        ))}
    </ul>
  ));
}
