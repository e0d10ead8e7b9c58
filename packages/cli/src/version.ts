import { createRequire } from 'node:module';

/** The version of this command line. */
export function ownVersion(): string {
  return (createRequire(import.meta.url)('../package.json') as { version: string }).version;
}
