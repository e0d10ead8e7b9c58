import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { RoleContext } from '../data/admin/gateway.js';
import type { Session } from '../data/session.js';
import { Main } from './main.js';
import { useTitle } from './page-change.js';
import { Person } from './person.js';
import { Side } from './side.js';
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
  const words = useTranslations('admin');
  const { pathname } = useLocation();
  const page = PAGES.find(({ to }) => pathname.startsWith(to));
  useTitle(page && words(`nav.${page.name}`), words('title'));
  return (
    <>
      <Side home="/admin" name={words('title')} links={<Links />}>
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
  return (
    <ul>
      {PAGES.map(({ to, name }) => (
        <li key={to}>
          <Link to={to}>{words(name)}</Link>
        </li>
      ))}
    </ul>
  );
}
