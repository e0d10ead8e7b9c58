import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { root } from './root.js';

const layout = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  component: lazyRouteComponent(() => import('../pages/settings/settings.js'), 'Settings'),
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
  component: lazyRouteComponent(() => import('../pages/settings/certificate.js'), 'CertificatePart'),
});

const keys = createRoute({
  getParentRoute: () => layout,
  path: '/keys',
  component: lazyRouteComponent(() => import('../pages/settings/keys/keys.js'), 'KeysPart'),
});

/** `/settings/...`: a route for each part of the settings. */
export const settings = layout.addChildren([start, certificate, keys]);
