import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { named, root } from './root.js';

/** `/console/admin/`: the pages of administrators, in a frame of their own. */
const layout = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: lazyRouteComponent(() => import('./admin-shell.js'), 'AdminShell'),
});

const start = createRoute({
  getParentRoute: () => layout,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/admin/accounts' });
  },
});

const accounts = createRoute({
  getParentRoute: () => layout,
  path: '/accounts',
  validateSearch: (search: Record<string, unknown>) => named(search, ['offset']),
  component: lazyRouteComponent(() => import('../pages/admin/accounts/accounts.js'), 'Accounts'),
});

const account = createRoute({
  getParentRoute: () => layout,
  path: '/accounts/$id',
  component: lazyRouteComponent(() => import('../pages/admin/account/account.js'), 'AccountPage'),
});

export const administration = layout.addChildren([start, accounts, account]);
