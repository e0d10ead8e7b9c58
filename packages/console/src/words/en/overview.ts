import type { overview as spanish } from '../es/overview.js';

export const overview: typeof spanish = {
  title: 'Overview',
  today: 'Today',
  month: 'Last 30 days',
  documents: '{count, plural, =0 {No receipts} one {# receipt} other {# receipts}}',
  accepted: 'Invoiced and accepted',
  itbis: 'ITBIS',
  byStatus: 'By status, 30 days',
  byMonth: 'ITBIS by month',
  topBuyers: 'Largest buyers, 30 days',
  attention: 'To attend to',
  calm: 'Nothing to attend to.',
  certificateEnds: 'The certificate of {name} ends on {day}.',
  certificateMissing: '{name} has no certificate.',
  rangeLow: '{remaining} numbers of type {type} are left.',
  rangeEnds: 'The range of type {type} ends on {day}.',
  rejected: '{count, plural, one {# rejected receipt} other {# rejected receipts}} in 30 days.',
  table: 'Show table',
  chart: 'Show chart',
  noBuyer: 'Final consumer',
};
