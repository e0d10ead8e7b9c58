import { type DocumentNode, type EcfType, groupOf, textOf } from '@ecf/domain';
import type { Schema } from './catalogue/element-rules.js';
import { namedType } from './catalogue/schema-choice.js';
import type { CheckedDocument, DocumentName } from './documents.js';
import type { FaultList } from './fault-list.js';

/** The group of each document that carries its eNCF. */
const ENCF_GROUP: Readonly<Partial<Record<DocumentName, string>>> = {
  ACECF: 'DetalleAprobacionComercial',
  ARECF: 'DetalleAcusedeRecibo',
};

/** A document whose root, and so whose schema, is unknown or undecided. */
export function undecided(document: DocumentName | null, faults: FaultList): CheckedDocument {
  return { document, type: null, schema: null, encf: null, tree: null, faults: faults.faults };
}

/** What a check by `schema` found. */
export function decided(schema: Schema, content: DocumentNode, faults: FaultList): CheckedDocument {
  const { document } = schema;
  const header = groupOf(content, 'Encabezado');
  const idDoc = groupOf(header, 'IdDoc');
  const type: EcfType | null = idDoc && namedType(textOf(idDoc, 'TipoeCF') ?? '');
  const encfGroup = ENCF_GROUP[document];
  const encf = textOf(encfGroup ? groupOf(content, encfGroup) : idDoc, 'eNCF');
  return { document, type, schema: schema.id, encf, tree: { [document]: content }, faults: faults.faults };
}
