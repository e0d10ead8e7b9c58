import type { cancellations as spanish } from '../es/cancellations.js';

export const cancellations: typeof spanish = {
  title: 'Cancellations',
};
