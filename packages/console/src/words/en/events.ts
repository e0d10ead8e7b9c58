import type { events as spanish } from '../es/events.js';

export const events: typeof spanish = {
  title: 'Events',
};
