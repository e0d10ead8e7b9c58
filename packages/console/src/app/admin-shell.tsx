import { Link, Outlet } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { RoleContext } from '../data/admin/gateway.js';
import type { Session } from '../data/session.js';
import { Person } from './person.js';
import { SignedIn } from './signed-in.js';

const PAGES = [{ to: '/admin/accounts', name: 'accounts' }] as const;

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
  const words = useTranslations();
  return (
    <>
      <header className="side">
        <Link to="/admin" className="brand">
          <img src="/console/icon.svg" alt="" width="24" height="24" />
          <span>{words('admin.title')}</span>
        </Link>
        <nav aria-label={words('nav.main')}>
          {PAGES.map(({ to, name }) => (
            <Link key={to} to={to}>
              {words(`admin.nav.${name}`)}
            </Link>
          ))}
        </nav>
        <Person session={session} />
      </header>
      <main id="page">
        <Outlet />
      </main>
    </>
  );
}
