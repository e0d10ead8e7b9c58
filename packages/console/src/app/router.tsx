import { createRoute, createRouter } from '@tanstack/react-router';
import { administration } from './admin-routes.js';
import { Failed, NotFound } from './failures.js';
import { named, page, root } from './root.js';
import { settings } from './settings-routes.js';

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: page(() => import('../pages/overview/overview.js'), 'Overview'),
});

const invoices = createRoute({
  getParentRoute: () => root,
  path: '/invoices',
  validateSearch: (search: Record<string, unknown>) =>
    named(search, [
      ...(['status', 'type', 'buyer', 'name', 'reference', 'delivery', 'code', 'min', 'max'] as const),
      ...(['superseded', 'sort', 'period', 'from', 'to', 'cursor'] as const),
    ]),
  component: page(() => import('../pages/invoices/invoices.js'), 'Invoices'),
});

const invoice = createRoute({
  getParentRoute: () => root,
  path: '/invoices/$rnc/$encf',
  component: page(() => import('../pages/invoice/invoice.js'), 'InvoicePage'),
});

const received = createRoute({
  getParentRoute: () => root,
  path: '/received',
  validateSearch: (search: Record<string, unknown>) =>
    named(search, ['from', 'to', 'cursor', 'status', 'authority_status', 'type', 'provider']),
  component: page(() => import('../pages/received/received.js'), 'Received'),
});

/** The RNC of the buyer, the RNC of the provider and the number name a received document. */
const receivedInvoice = createRoute({
  getParentRoute: () => root,
  path: '/received/$rnc/$provider/$encf',
  component: page(() => import('../pages/received/received-invoice.js'), 'ReceivedInvoicePage'),
});

/** `/invoices/new?repeat=…` or `?credit=…` begin with a document of the place: the number of a rejected one, or of one to credit. */
const newInvoice = createRoute({
  getParentRoute: () => root,
  path: '/invoices/new',
  validateSearch: (search: Record<string, unknown>) => named(search, ['repeat', 'credit']),
  component: page(() => import('../pages/new-invoice/new-invoice.js'), 'NewInvoice'),
});

const batches = createRoute({
  getParentRoute: () => root,
  path: '/batches',
  validateSearch: (search: Record<string, unknown>) => named(search, ['after']),
  component: page(() => import('../pages/batches/batches.js'), 'Batches'),
});

const newBatch = createRoute({
  getParentRoute: () => root,
  path: '/batches/new',
  component: page(() => import('../pages/batches/new-batch.js'), 'NewBatch'),
});

const batch = createRoute({
  getParentRoute: () => root,
  path: '/batches/$id',
  validateSearch: (search: Record<string, unknown>) => named(search, ['only', 'after']),
  component: page(() => import('../pages/batches/batch.js'), 'BatchPage'),
});

const cancellations = createRoute({
  getParentRoute: () => root,
  path: '/cancellations',
  validateSearch: (search: Record<string, unknown>) => named(search, ['offset']),
  component: page(() => import('../pages/cancellations/cancellations.js'), 'Cancellations'),
});

const newCancellation = createRoute({
  getParentRoute: () => root,
  path: '/cancellations/new',
  component: page(() => import('../pages/cancellations/new-cancellation.js'), 'NewCancellation'),
});

const cancellation = createRoute({
  getParentRoute: () => root,
  path: '/cancellations/$id',
  component: page(() => import('../pages/cancellations/cancellation.js'), 'CancellationPage'),
});

const deliveries = createRoute({
  getParentRoute: () => root,
  path: '/deliveries',
  validateSearch: (search: Record<string, unknown>) => named(search, ['state', 'from', 'to', 'cursor']),
  component: page(() => import('../pages/deliveries/deliveries.js'), 'Deliveries'),
});

const contingency = createRoute({
  getParentRoute: () => root,
  path: '/contingency',
  validateSearch: (search: Record<string, unknown>) => named(search, ['after']),
  component: page(() => import('../pages/contingency/contingency.js'), 'Contingency'),
});

const events = createRoute({
  getParentRoute: () => root,
  path: '/events',
  validateSearch: (search: Record<string, unknown>) => named(search, ['types']),
  component: page(() => import('../pages/events/events.js'), 'Events'),
});

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([
      overview,
      invoices,
      newInvoice,
      invoice,
      received,
      receivedInvoice,
      batches,
      newBatch,
      batch,
      cancellations,
      newCancellation,
      cancellation,
      deliveries,
      contingency,
      events,
      settings,
      administration,
    ]),
    basepath: '/console',
    // Numbers such as an RNC stay text in the address.
    parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
      return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`;
    },
    defaultPreload: 'intent',
    defaultErrorComponent: Failed,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
