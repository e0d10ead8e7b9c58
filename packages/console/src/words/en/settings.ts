import type { settings as spanish } from '../es/settings.js';

export const settings: typeof spanish = {
  title: 'Settings',
};
