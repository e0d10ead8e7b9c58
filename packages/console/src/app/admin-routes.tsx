import { createRoute, redirect } from '@tanstack/react-router';
import { named, page, root } from './root.js';

/** `/console/admin/`: the pages of administrators, in a frame of their own. */
const layout = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: page(() => import('./admin-shell.js'), 'AdminShell'),
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
  component: page(() => import('../pages/admin/accounts/accounts.js'), 'Accounts'),
});

const account = createRoute({
  getParentRoute: () => layout,
  path: '/accounts/$id',
  component: page(() => import('../pages/admin/account/account.js'), 'AccountPage'),
});

export const administration = layout.addChildren([start, accounts, account]);
