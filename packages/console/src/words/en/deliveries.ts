import type { deliveries as spanish } from '../es/deliveries.js';

export const deliveries: typeof spanish = {
  title: 'Deliveries',
};
