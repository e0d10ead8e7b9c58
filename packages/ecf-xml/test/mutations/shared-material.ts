import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const SHARED = resolve(import.meta.dirname, '../../../../../shared');

/** Whether the authority's own schemas and the certification set are beside the repository. */
export const hasSharedMaterial = existsSync(join(SHARED, 'xsd'));

if (!hasSharedMaterial) {
  console.info(
    "The authority's schemas and the certification set are not at hand: compared with our own schemas instead.",
  );
}

export function sharedText(path: string): string {
  return readFileSync(join(SHARED, path), 'utf8').replace(/^\ufeff/, '');
}

/** The documents of the certification set as JSON; summaries get a security code like that of a signature. */
export function certificationDocuments(): { name: string; value: Record<string, unknown> }[] {
  if (!hasSharedMaterial) return [];
  return ['ecf', 'rfce', 'acecf'].flatMap((folder) =>
    readdirSync(join(SHARED, 'certification', folder)).map((file) => ({
      name: `${folder}/${file}`,
      value: JSON.parse(sharedText(`certification/${folder}/${file}`).replace('"??????"', '"aB3+/x"')),
    })),
  );
}
