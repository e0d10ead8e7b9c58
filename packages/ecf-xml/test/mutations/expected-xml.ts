import { XmlDocument } from 'libxml2-wasm';
import type { SchemaId } from '../../src/index.js';
import { libxml2Accepts } from './oracle.js';
import { SCHEMA_IDS } from './sample-documents.js';

const COMPANIONS: Readonly<Record<string, SchemaId>> = {
  RFCE: 'rfce-32',
  ACECF: 'acecf',
  ANECF: 'anecf',
  ARECF: 'arecf',
  SemillaModel: 'semilla',
};

/** The verdict a document deserves: libxml2's, by the schema that its root and TipoeCF name. */
export function expectedOfXml(source: string | Uint8Array): boolean {
  const id = schemaNamedBy(source);
  return id !== null && libxml2Accepts(id, source);
}

function schemaNamedBy(source: string | Uint8Array): SchemaId | null {
  let document: XmlDocument;
  try {
    document = typeof source === 'string' ? XmlDocument.fromString(source) : XmlDocument.fromBuffer(source);
  } catch {
    return null;
  }
  try {
    if (document.dtd || document.root.namespaceUri !== '') return null;
    const { name } = document.root;
    if (name !== 'ECF') return COMPANIONS[name] ?? null;
    const text = document.get('/ECF/Encabezado/IdDoc/TipoeCF')?.content;
    const type = text?.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '').replace(/^\+/, '');
    return SCHEMA_IDS.find((id) => id === `ecf-${type}`) ?? null;
  } finally {
    document.dispose();
  }
}
