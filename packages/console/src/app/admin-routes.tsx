import { createRoute } from '@tanstack/react-router';
import { named, page, root } from './root.js';

/** `/console/admin/`: the pages of administrators, in a frame of their own. */
const layout = createRoute({
  getParentRoute: () => root,
  path: '/admin',
  component: page(() => import('./admin-shell.js'), 'AdminShell'),
});

const state = createRoute({
  getParentRoute: () => layout,
  path: '/',
  component: page(() => import('../pages/admin/state/state.js'), 'State'),
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

const taxpayer = createRoute({
  getParentRoute: () => layout,
  path: '/accounts/$id/$rnc',
  component: page(() => import('../pages/admin/account/taxpayer.js'), 'TaxpayerPage'),
});

const administrators = createRoute({
  getParentRoute: () => layout,
  path: '/administrators',
  component: page(() => import('../pages/admin/administrators/administrators.js'), 'Administrators'),
});

const audit = createRoute({
  getParentRoute: () => layout,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>) => named(search, ['actor', 'action', 'target']),
  component: page(() => import('../pages/admin/audit/audit.js'), 'Audit'),
});

const documents = createRoute({
  getParentRoute: () => layout,
  path: '/documents',
  validateSearch: (search: Record<string, unknown>) => named(search, ['after']),
  component: page(() => import('../pages/admin/documents/documents.js'), 'Documents'),
});

const deliveries = createRoute({
  getParentRoute: () => layout,
  path: '/deliveries',
  validateSearch: (search: Record<string, unknown>) => named(search, ['before', 'status', 'encf', 'buyer']),
  component: page(() => import('../pages/admin/deliveries/deliveries.js'), 'Deliveries'),
});

const cancellations = createRoute({
  getParentRoute: () => layout,
  path: '/cancellations',
  validateSearch: (search: Record<string, unknown>) => named(search, ['after', 'settled']),
  component: page(() => import('../pages/admin/cancellations/cancellations.js'), 'Cancellations'),
});

const approvals = createRoute({
  getParentRoute: () => layout,
  path: '/approvals',
  validateSearch: (search: Record<string, unknown>) => named(search, ['after', 'show']),
  component: page(() => import('../pages/admin/approvals/approvals.js'), 'Approvals'),
});

const deployment = createRoute({
  getParentRoute: () => layout,
  path: '/deployment',
  component: page(() => import('../pages/admin/deployment/deployment.js'), 'Deployment'),
});

export const administration = layout.addChildren([
  state,
  accounts,
  account,
  taxpayer,
  administrators,
  audit,
  documents,
  deliveries,
  cancellations,
  approvals,
  deployment,
]);
