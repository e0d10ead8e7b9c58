import type { contingency as spanish } from '../es/contingency.js';

export const contingency: typeof spanish = {
  title: 'Contingency',
};
