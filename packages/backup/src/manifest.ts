import { createHash } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder } from '@ecf/archive';
import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { canonicalJson } from '@ecf/kit/canonical-json';
import { z } from 'zod';
import { BackupError } from './backup-error.js';

/** Raised when an older `ecf` could not read the folder. */
const FORMAT = 1;
const NAME = 'manifest.json';

const count = z.int().min(0);
const fileSchema = z.strictObject({
  /** Relative to the folder of the backup. */
  path: z.string().regex(/^[\w.-]+(\/[\w.-]+)*$/),
  bytes: count,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
const databaseSchema = z.strictObject({
  /** The applied migrations with their statements. */
  migrations: fileSchema,
  tables: z.array(
    z.strictObject({ name: z.string(), columns: z.array(z.string()).min(1), rows: count, file: fileSchema }),
  ),
  /** Months of a table: with their bounds, or null where an operator has detached them. The migrations do not make them. */
  months: z.array(z.strictObject({ name: z.string(), parent: z.string(), bound: z.string().nullable() })),
  sequences: z.array(z.strictObject({ name: z.string(), last_value: z.string().regex(/^-?\d+$/) })),
  /** The documents that the database names; a document that waits in it for the archive is left out. Null if it names none. */
  documents: z.strictObject({ count, file: fileSchema }).nullable(),
});
const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  /** Version of the `ecf` that made the backup. */
  product_version: z.string().regex(/^\d+\.\d+\.\d+/),
  /** Identifies the deployment, also after a restore. */
  deployment: z.uuid(),
  /** The moment whose state the databases have, by the clock of the database server. */
  taken_at: z.iso.datetime(),
  /** Folder of the databases. */
  folder: z.string().regex(/^databases-[\w.-]+$/),
  /** Ids of the master keys that seal values in the backup. */
  key_ids: z.array(z.string().regex(/^[0-9a-f]{8}$/)),
  databases: z.strictObject(
    Object.fromEntries(SERVICE_NAMES.map((service) => [service, databaseSchema])) as Record<
      ServiceName,
      typeof databaseSchema
    >,
  ),
  /** Documents that the archive did not have, or had altered, when the backup was made. */
  missing: z.array(z.string()),
});

export type BackupFile = z.infer<typeof fileSchema>;
export type DatabaseBackup = z.infer<typeof databaseSchema>;
export type Manifest = z.infer<typeof manifestSchema>;

/** All files of a backup but the manifest and the documents. */
export function filesOf({ databases }: Manifest): BackupFile[] {
  return Object.values(databases).flatMap(({ migrations, tables, documents }) => [
    migrations,
    ...tables.map(({ file }) => file),
    ...(documents === null ? [] : [documents.file]),
  ]);
}

/**
 * The manifest of a folder; null if it has none.
 *
 * @param version of this program
 * @throws BackupError if it was altered, or made by a newer version
 */
export async function readManifest(folder: string, version: string): Promise<Manifest | null> {
  const file = path.join(folder, NAME);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new BackupError(`${file} cannot be read: ${error.message}`, { cause: error });
  });
  if (text === null) return null;
  const { sha256, ...content } = parsed(text) ?? {};
  const { format, product_version: made } = content;
  if (sha256 !== checksum(content))
    throw new BackupError(`${file} was altered or is incomplete. Use another copy of the backup.`);
  if ((typeof format === 'number' && format > FORMAT) || isNewer(String(made), version))
    throw new BackupError(
      `the backup was made by version ${made} of ecf, and this is version ${version}. Use version ${made} or newer.`,
    );
  const manifest = manifestSchema.safeParse(content);
  if (!manifest.success)
    throw new BackupError(`${file} is not the manifest of a backup: ${z.prettifyError(manifest.error)}`);
  return manifest.data;
}

/** Replaces the manifest in one step: the folder has the earlier backup or the new one. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const file = path.join(folder, NAME);
  const part = `${file}.part`;
  await writeSynced(part, `${JSON.stringify({ ...manifest, sha256: checksum(manifest) }, null, 2)}\n`);
  await rename(part, file);
  await syncFolder(folder);
}

export async function writeSynced(file: string, text: string): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function checksum(content: object): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}

/** Compares the first three numbers of two versions. */
function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number));
  const differs = left?.findIndex((number, at) => number !== right?.[at]) ?? -1;
  return differs >= 0 && (left?.[differs] ?? 0) > (right?.[differs] ?? 0);
}
