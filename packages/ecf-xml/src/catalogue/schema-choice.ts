import { type EcfType, isEcfType } from '@ecf/domain';
import type { DocumentName, SchemaId } from '../documents.js';
import { trimBlanks } from '../values/blanks.js';

const BY_ROOT: ReadonlyMap<string, SchemaId> = new Map<DocumentName, SchemaId>([
  ['RFCE', 'rfce-32'],
  ['ACECF', 'acecf'],
  ['ANECF', 'anecf'],
  ['ARECF', 'arecf'],
  ['SemillaModel', 'semilla'],
]);

/** Whether the name is the root of one of our documents. */
export function isDocumentName(name: string): name is DocumentName {
  return name === 'ECF' || BY_ROOT.has(name);
}

/** The schema of a root other than ECF, which alone has several. */
export function companionSchema(name: DocumentName): SchemaId | null {
  return BY_ROOT.get(name) ?? null;
}

/** The type that a TipoeCF as written names: blanks around it and a plus sign do not count. Null when it is unlisted. */
export function namedType(tipoEcf: string): EcfType | null {
  const text = trimBlanks(tipoEcf);
  const type = text.startsWith('+') ? text.slice(1) : text;
  return isEcfType(type) ? type : null;
}
