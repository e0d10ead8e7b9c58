import type { XmlDocument } from 'libxml2-wasm';
import type { SchemaId } from '../../src/index.js';
import { isValid, validatorOf, withParsed } from './oracle.js';
import { SCHEMA_IDS } from './sample-documents.js';

const COMPANIONS: Readonly<Record<string, SchemaId>> = {
  RFCE: 'rfce-32',
  ACECF: 'acecf',
  ANECF: 'anecf',
  ARECF: 'arecf',
  SemillaModel: 'semilla',
};

/** The expected verdict on a document: libxml2's, by the schema that its root and TipoeCF name. */
export function expectedOfXml(source: string | Uint8Array): boolean {
  return withParsed(source, (document) => {
    const id = schemaNamedBy(document);
    return id !== null && isValid(validatorOf(id), document);
  });
}

function schemaNamedBy(document: XmlDocument): SchemaId | null {
  if (document.dtd || document.root.namespaceUri !== '') return null;
  const { name } = document.root;
  if (name !== 'ECF') return COMPANIONS[name] ?? null;
  const text = document.get('/ECF/Encabezado/IdDoc/TipoeCF')?.content;
  const type = text?.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '').replace(/^\+/, '');
  return SCHEMA_IDS.find((id) => id === `ecf-${type}`) ?? null;
}
