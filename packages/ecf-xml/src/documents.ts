import type { DocumentNode, EcfType, Fault } from '@ecf/domain';

/** The root elements of the fifteen documents. */
export type DocumentName = 'ECF' | 'RFCE' | 'ACECF' | 'ANECF' | 'ARECF' | 'SemillaModel';

/** One id per document of the catalogue: ten e-CF types, the summary, the three companion documents and the seed. */
export type SchemaId = `ecf-${EcfType}` | 'rfce-32' | 'acecf' | 'anecf' | 'arecf' | 'semilla';

/** The facts of a structural check about a document. */
export interface CheckedDocument {
  /** Root element, or null when it is not one of the fifteen documents. */
  document: DocumentName | null;
  /** TipoeCF of an e-CF or RFCE, or null when absent or unlisted. */
  type: EcfType | null;
  /** The schema that checked it, or null if none could be chosen. */
  schema: SchemaId | null;
  encf: string | null;
  /**
   * The normalised tree, root key included: leaves are strings, repeatable elements arrays, no empty groups.
   * Null when the root is not one of the fifteen documents. With faults present it holds what could be understood.
   */
  tree: DocumentNode | null;
  faults: Fault[];
}

/** The structural check with the business rules on top. `valid` is true when there are no faults; warnings never block. */
export interface ExaminedDocument extends CheckedDocument {
  warnings: Fault[];
  valid: boolean;
}

export interface ExamineOptions {
  /** The moment that counts as now. */
  now: Date;
  /** Leave the business rules out. */
  schemaOnly?: boolean;
}
