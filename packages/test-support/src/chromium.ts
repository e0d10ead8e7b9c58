import { existsSync } from 'node:fs';

/** Chromium of the system, as Debian and others install it; undefined without one. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) =>
  existsSync(file),
);
