import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

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

/** Every file of the XML archive of a data folder. */
export function readArchive(dataDir: string): ArchivedFile[] {
  const root = path.join(dataDir, 'xml');
  return fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.xml'))
    .map((name) => {
      const bytes = fs.readFileSync(path.join(root, name));
      const text = bytes.toString('utf8');
      return {
        path: name,
        sha256: createHash('sha256').update(bytes).digest('hex'),
        text,
        document: /<(\w+)[\s>]/.exec(text)?.[1] ?? '',
        encf: /E\d{12}/.exec(text)?.[0] ?? '',
      };
    });
}
