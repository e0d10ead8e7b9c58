import { ECF_TYPES } from '@ecf/domain';
import type { DocumentName, SchemaId } from '../documents.js';
import { ACECF_ELEMENTS, ANECF_ELEMENTS, ARECF_ELEMENTS, RFCE_ELEMENTS, SEED_ELEMENTS } from './companion-elements.js';
import { ECF_ELEMENTS } from './ecf-elements.js';

/** One of the fifteen documents. */
export interface CatalogueDocument {
  id: SchemaId;
  root: DocumentName;
  /** The table of its elements, and the index of its presence letter in the table. */
  elements: string;
  column: number;
  /** The name by which overrides and variants of the tables call it. */
  variant: string;
  /** Whether the schema demands the element behind the last one, where the signature stands. */
  signatureRequired: boolean;
  /** The authority's file this was taken from. */
  source: string;
}

/** The fifteen documents of the catalogue. */
export const DOCUMENTS: readonly CatalogueDocument[] = [
  ...ECF_TYPES.map(
    (type, column): CatalogueDocument => ({
      id: `ecf-${type}`,
      root: 'ECF',
      elements: ECF_ELEMENTS,
      column,
      variant: type,
      signatureRequired: true,
      source: `e-CF ${type} v.1.0.xsd`,
    }),
  ),
  companion('rfce-32', 'RFCE', RFCE_ELEMENTS, true, 'RFCE 32 v.1.0.xsd'),
  companion('acecf', 'ACECF', ACECF_ELEMENTS, false, 'ACECF v.1.0.xsd'),
  companion('anecf', 'ANECF', ANECF_ELEMENTS, true, 'ANECF v.1.0.xsd'),
  companion('arecf', 'ARECF', ARECF_ELEMENTS, false, 'ARECF v1.0.xsd'),
  companion('semilla', 'SemillaModel', SEED_ELEMENTS, true, 'Semilla v.1.0.xsd'),
];

function companion(
  id: SchemaId,
  root: DocumentName,
  elements: string,
  signatureRequired: boolean,
  source: string,
): CatalogueDocument {
  return { id, root, elements, column: 0, variant: id, signatureRequired, source };
}
