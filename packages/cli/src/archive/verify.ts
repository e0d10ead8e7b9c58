import { type XmlStore, XmlStoreError } from '@ecf/archive';
import { ARCHIVING_SERVICES } from '@ecf/contracts';
import type { GatewayAdmin } from '../gateway-admin.js';
import { PathSpool } from './path-spool.js';

/** An error of an object. `unknown`: it is stored, and no row names it. */
export interface Finding {
  readonly problem: 'missing' | 'altered' | 'unknown';
  readonly path: string;
  /** The service whose row names it; null if no row does. */
  readonly service: string | null;
  /** SHA-256 of the row. */
  readonly sha256: string | null;
}

export interface Verified {
  readonly documents: number;
  readonly missing: number;
  readonly altered: number;
  readonly unknown: number;
  /** Documents whose bytes are still in a database; the archiver moves them to the archive. */
  readonly pending: number;
}

const AT_ONCE = 16;

interface Page {
  files: { path: string; sha256: string; pending: boolean }[];
  next: string | null;
}

/**
 * Reads every object that the services' databases name and compares its checksum; then reports objects that no row names. The
 * store is listed first, so that later objects are not in question. Pages and temporary files keep the memory constant.
 *
 * @param newest objects stored after it are never `unknown`
 */
export async function verifyArchive(
  admin: Pick<GatewayAdmin, 'call'>,
  store: XmlStore,
  newest: Date,
  report: (finding: Finding) => Promise<void>,
): Promise<Verified> {
  const count = { documents: 0, missing: 0, altered: 0, unknown: 0, pending: 0 };
  const found = async (finding: Finding) => {
    count[finding.problem] += 1;
    await report(finding);
  };
  const spool = new PathSpool();
  try {
    for await (const { path, storedAt } of store.list()) if (storedAt <= newest) spool.add('present', path);
    for (const service of ARCHIVING_SERVICES)
      for await (const files of pages(admin, service))
        for (let at = 0; at < files.length; at += AT_ONCE)
          await Promise.all(
            files.slice(at, at + AT_ONCE).map(async ({ path, sha256, pending }) => {
              spool.add('known', path);
              count.documents += 1;
              const problem = await problemOf(store, path, sha256);
              if (problem === 'missing' && pending) count.pending += 1;
              else if (problem !== null) await found({ problem, path, service, sha256 });
            }),
          );
    for await (const path of spool.unknown()) await found({ problem: 'unknown', path, service: null, sha256: null });
    return count;
  } finally {
    spool.close();
  }
}

async function* pages(admin: Pick<GatewayAdmin, 'call'>, service: string): AsyncGenerator<Page['files']> {
  for (let after: string | null = ''; after !== null; ) {
    const query = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
    const page = (await admin.call('GET', `/admin/archive/${service}${query}`)) as Page;
    yield page.files;
    after = page.next;
  }
}

async function problemOf(store: XmlStore, path: string, sha256: string): Promise<'missing' | 'altered' | null> {
  try {
    await store.get(path, sha256);
    return null;
  } catch (error) {
    if (error instanceof XmlStoreError && (error.code === 'missing' || error.code === 'altered')) return error.code;
    throw error;
  }
}
