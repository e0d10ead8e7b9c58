import type { batches as spanish } from '../es/batches.js';

export const batches: typeof spanish = {
  title: 'Batches',
};
