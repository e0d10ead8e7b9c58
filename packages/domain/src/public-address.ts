import { type Environment, environmentNamed } from './authority/environment.js';
import { withoutAccents } from './text/without-accents.js';

/** The path of a public route as tables write it, and the environment that stood before it. */
interface PublicAddress {
  readonly path: string;
  readonly prefix: Environment | null;
}

const PUBLIC = /^\/+(?:(?:testecf|certecf|ecf)\/+)?fe\//i;

/**
 * The plain form of a path under `/fe/`; null for any other. It is decoded, in lower case, without accents and environment
 * prefix, with single slashes and none at the end. Callers write `recepción` in UTF-8 or Latin-1, percent-encoded in either
 * case or as raw bytes. The HTTP parser passes each raw byte as one character. Callers also append paths to directory
 * entries that end in a slash.
 */
export function publicAddress(path: string): PublicAddress | null {
  if (!PUBLIC.test(path)) return null;
  const bytes = path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  const utf8 = Buffer.from(bytes, 'latin1').toString('utf8');
  const text = utf8.includes('\ufffd') ? bytes : utf8;
  const plain = withoutAccents(text).toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '');
  const first = plain.slice(1, plain.indexOf('/', 1));
  const prefix = environmentNamed(first);
  return { path: prefix === null ? plain : plain.slice(first.length + 1), prefix };
}
