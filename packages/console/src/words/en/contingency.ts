import type { contingency as spanish } from '../es/contingency.js';

export const contingency: typeof spanish = {
  title: 'Contingency',
  count: '{count, plural, one {# document waits for the DGII} other {# documents wait for the DGII}}',
  calm: 'No document waits for the DGII.',
  how: 'If the DGII does not answer, documents that are sent with contingency are signed, appear here and are sent automatically when the DGII answers again.',
  what: 'These documents are signed and are sent automatically when the DGII answers. You do not have to send them again. Until then their printed form has this legend:',
  waiting: 'Waiting documents',
  document: 'e-NCF',
  since: 'Signed',
  deadline: 'To be sent by',
  noDeadline: '72 hours after the DGII answers',
  next: 'Next',
};
