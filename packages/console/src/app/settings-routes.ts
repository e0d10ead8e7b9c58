import { createRoute, redirect } from '@tanstack/react-router';
import { page, root } from './root.js';

const layout = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: page(() => import('../pages/settings/settings.js'), 'Settings'),
});

const start = createRoute({
  getParentRoute: () => layout,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/certificate', replace: true });
  },
});

const certificate = createRoute({
  getParentRoute: () => layout,
  path: '/certificate',
  component: page(() => import('../pages/settings/certificate.js'), 'CertificatePart'),
});

const keys = createRoute({
  getParentRoute: () => layout,
  path: '/keys',
  component: page(() => import('../pages/settings/keys/keys.js'), 'KeysPart'),
});

const ranges = createRoute({
  getParentRoute: () => layout,
  path: '/ranges',
  component: page(() => import('../pages/settings/ranges/ranges.js'), 'RangesPart'),
});

const logo = createRoute({
  getParentRoute: () => layout,
  path: '/logo',
  component: page(() => import('../pages/settings/logo.js'), 'LogoPart'),
});

const webhooks = createRoute({
  getParentRoute: () => layout,
  path: '/webhooks',
  component: page(() => import('../pages/settings/webhooks/webhooks.js'), 'WebhooksPart'),
});

const runs = createRoute({
  getParentRoute: () => layout,
  path: '/runs',
  component: page(() => import('../pages/settings/runs.js'), 'RunsPart'),
});

/** `/settings/...`: a route for each part of the settings. */
export const settings = layout.addChildren([start, certificate, keys, ranges, logo, webhooks, runs]);
