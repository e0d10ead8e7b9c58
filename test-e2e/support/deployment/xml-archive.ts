import { createHash } from 'node:crypto';
import { openXmlStore, readArchiveSettings } from '@ecf/archive';

/** A file of the XML archive. */
export interface ArchivedFile {
  /** Path under the archive's root, as in `xml_storage_path`. */
  path: string;
  sha256: string;
  text: string;
  /** Name of the root element. */
  document: string;
  /** The first eNCF in it, which is its subject. */
  encf: string;
}

/** Every XML document of the archive: in the bucket of the settings, or in the data folder. */
export async function readArchive(
  dataDir: string,
  settings: Record<string, string | undefined> = {},
): Promise<ArchivedFile[]> {
  const archive = openXmlStore(readArchiveSettings({ ...settings, DATA_DIR: dataDir }));
  const files: ArchivedFile[] = [];
  for await (const { path } of archive.list()) {
    const bytes = await archive.get(path);
    const text = bytes.toString('utf8');
    files.push({
      path,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      text,
      document: /<(\w+)[\s>]/.exec(text)?.[1] ?? '',
      encf: /E\d{12}/.exec(text)?.[0] ?? '',
    });
  }
  return files;
}
