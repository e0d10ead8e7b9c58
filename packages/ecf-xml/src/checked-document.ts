import { type DocumentNode, type EcfType, groupOf, textOf } from '@ecf/domain';
import type { ElementRule, Schema } from './catalogue/element-rules.js';
import { namedType } from './catalogue/schema-choice.js';
import type { CheckedDocument, DocumentName } from './documents.js';
import type { FaultList } from './fault-list.js';

/** The group of each document that carries its eNCF. */
const ENCF_GROUP: Readonly<Partial<Record<DocumentName, string>>> = {
  ACECF: 'DetalleAprobacionComercial',
  ARECF: 'DetalleAcusedeRecibo',
};

/** A document whose root, and so whose schema, is unknown or undecided. */
export function undecided(
  document: DocumentName | null,
  faults: FaultList,
  encf: string | null = null,
): CheckedDocument {
  return { document, type: null, schema: null, encf, tree: null, faults: faults.faults };
}

/** The result of a check by `schema`. */
export function decided(schema: Schema, content: DocumentNode, faults: FaultList): CheckedDocument {
  const { document } = schema;
  const header = groupOf(content, 'Encabezado');
  const idDoc = groupOf(header, 'IdDoc');
  const type: EcfType | null = idDoc && namedType(textOf(idDoc, 'TipoeCF') ?? '');
  const encfGroup = ENCF_GROUP[document];
  const encf = textOf(encfGroup ? groupOf(content, encfGroup) : idDoc, 'eNCF');
  return { document, type, schema: schema.id, encf, tree: { [document]: content }, faults: faults.faults };
}

/**
 * The path of an element: built only if a fault names it or a group is entered.
 *
 * @param position in its list, counted from 1, or 0 where the element cannot repeat
 */
export function pathOf(parent: string, rule: ElementRule, position: number): string {
  const place = position === 0 ? rule.name : `${rule.name}[${position}]`;
  return parent === '' ? place : `${parent}.${place}`;
}
