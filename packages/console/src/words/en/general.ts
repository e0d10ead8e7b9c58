import type { general as spanish } from '../es/general.js';
import { reasons } from './reasons.js';

/** Words of the frame, and of documents on every page. */
export const general: typeof spanish = {
  product: 'Electronic receipts',
  language: 'Español',
  nav: {
    main: 'Pages',
    overview: 'Overview',
    invoices: 'Issued',
    received: 'Received',
    batches: 'Batches',
    cancellations: 'Cancellations',
    deliveries: 'Deliveries',
    contingency: 'Contingency',
    events: 'Events',
    settings: 'Settings',
  },
  place: { taxpayer: 'Taxpayer', env: 'Environment', none: 'This key has no taxpayers.' },
  session: {
    title: 'Sign in',
    account: {
      key: 'API key',
      hint: 'Use an API key of your account. The session ends after eight hours without use.',
    },
    administrator: {
      key: 'Administrator token',
      hint: 'Administration of this server. Use your administrator token. The session ends after eight hours without use.',
    },
    enter: 'Sign in',
    leave: 'Sign out',
    again: 'The session has ended. Sign in again; what you typed is still here.',
  },
  role: { viewer: 'Viewer', operator: 'Operator', owner: 'Owner' },
  cancel: 'Cancel',
  secret: { label: 'Secret', copy: 'Copy', copied: 'Copied', kept: 'I have stored it' },
  state: {
    loading: 'Loading…',
    unreachable: 'The server cannot be reached. It is tried again every few seconds.',
    reasons,
    retry: 'Try again',
    problem: 'This could not be done: {message}',
  },
  status: {
    Aceptado: 'Accepted',
    AceptadoCondicional: 'Accepted conditionally',
    Rechazado: 'Rejected',
    EnProceso: 'In process',
    'No encontrado': 'Not found',
  },
  type: {
    '31': 'Tax credit invoice',
    '32': 'Consumer invoice',
    '33': 'Debit note',
    '34': 'Credit note',
    '41': 'Purchases',
    '43': 'Minor expenses',
    '44': 'Special regimes',
    '45': 'Government',
    '46': 'Exports',
    '47': 'Payments abroad',
  },
};
