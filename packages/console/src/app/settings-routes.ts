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

/** `/settings/...`: a route for each part of the settings. */
export const settings = layout.addChildren([start, certificate, keys]);
