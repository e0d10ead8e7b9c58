import type { DocumentName, SchemaId } from '../documents.js';
import { stricterPattern, type ValueCheck, valueCheck } from '../values/value-check.js';
import { type CatalogueDocument, DOCUMENTS } from './documents.js';
import { SIMPLE_TYPES, type SimpleType } from './simple-types.js';

/** One element of one document, compiled from its row of the catalogue. */
export interface ElementRule {
  name: string;
  /** Position among its siblings. */
  index: number;
  required: boolean;
  /** How often it may stand; above one it is a list in the tree. */
  max: number;
  /** The elements of a group, in order; null for a leaf. */
  children: readonly ElementRule[] | null;
  byName: ReadonlyMap<string, ElementRule>;
  requiredCount: number;
  /** The simple type of a leaf and the name its XSD gives it; null for a group. */
  type: SimpleType | null;
  typeName: string | null;
  check: ValueCheck;
  /** Whether JSON may state it as a number: amounts, quantities and percentages, which leading zeros do not change. */
  takesNumber: boolean;
  /** A pattern that the check reads more loosely than the authority does; null for nearly all. */
  stricter: RegExp | null;
  openTag: string;
  closeTag: string;
}

/** One of the fifteen documents, compiled. */
export interface Schema {
  id: SchemaId;
  document: DocumentName;
  root: ElementRule;
  signatureRequired: boolean;
  source: string;
}

const schemas = new Map<SchemaId, Schema>();

/** The compiled schema of a document. */
export function schemaOf(id: SchemaId): Schema {
  let schema = schemas.get(id);
  if (!schema) {
    const document = DOCUMENTS.find((candidate) => candidate.id === id);
    if (!document) throw new Error(`No document of the catalogue is called ${id}`);
    schema = compileDocument(document);
    schemas.set(id, schema);
  }
  return schema;
}

function compileDocument(document: CatalogueDocument): Schema {
  const rows = rowsOf(document);
  return {
    id: document.id,
    document: document.root,
    root: compileElement(rows, 0, 0, document),
    signatureRequired: document.signatureRequired,
    source: `XSD ${document.source.replace(/\.xsd$/, '')}`,
  };
}

interface Row {
  name: string;
  depth: number;
  required: boolean;
  max: number;
  typeName: string | null;
}

/** The rows of the table that belong to the document, its own overrides applied. */
function rowsOf(document: CatalogueDocument): Row[] {
  const rows: Row[] = [];
  for (const line of document.elements.split('\n')) {
    if (line.trim() === '') continue;
    const [name = '', presence = '', ...cells] = line.trim().split(/\s+/);
    const letter = presence[document.column];
    if (letter === '.') continue;
    if (letter !== 'R' && letter !== 'o') throw new Error(`Unreadable row of the catalogue: ${line}`);
    const row: Row = {
      name: interned(name),
      depth: line.search(/\S/) / 2,
      required: letter === 'R',
      max: 1,
      typeName: null,
    };
    for (const cell of cells) {
      const [value = '', types] = cell.split('=').reverse();
      if (types !== undefined && !types.split(',').includes(document.variant)) continue;
      if (/^x\d+$/.test(value)) row.max = Number(value.slice(1));
      else row.typeName = value;
    }
    rows.push(row);
  }
  return rows;
}

function compileElement(rows: readonly Row[], at: number, index: number, document: CatalogueDocument): ElementRule {
  const row = rows[at]!;
  const children: ElementRule[] = [];
  for (let i = at + 1; i < rows.length && rows[i]!.depth > row.depth; i++) {
    if (rows[i]!.depth === row.depth + 1) children.push(compileElement(rows, i, children.length, document));
  }
  if ((row.typeName === null) !== children.length > 0) throw new Error(`${row.name} must be a leaf or a group`);
  const type = row.typeName === null ? null : simpleType(row.typeName, document.variant);
  const stricter = type && stricterPattern(type);
  return {
    name: row.name,
    index,
    required: row.required,
    max: row.max,
    children: type ? null : children,
    byName: new Map(children.map((child) => [child.name, child])),
    requiredCount: children.filter((child) => child.required).length,
    type,
    typeName: row.typeName,
    check: type ? valueCheck(type) : () => null,
    takesNumber: type !== null && takesNumber(row.name, type),
    stricter,
    openTag: `<${row.name}>`,
    closeTag: `</${row.name}>`,
  };
}

/** Quantities and percentages whose type is a whole number, as it is for many codes. */
const WHOLE_QUANTITIES = new Set(['ITBIS1', 'ITBIS2', 'ITBIS3', 'TotalPaginas', 'Lineas', 'CantidadeNCFAnulados']);

function takesNumber(name: string, type: SimpleType): boolean {
  return (type.base === 'decimal' && type.enumeration === undefined) || WHOLE_QUANTITIES.has(name);
}

/** The text in the form in which the engine keeps the keys of objects: looking up names is then several times as fast. */
function interned(text: string): string {
  return Object.keys({ [text]: null })[0]!;
}

/** The meaning of a type's name in one document: its variant if there is one. */
function simpleType(name: string, variant: string): SimpleType {
  const key = Object.keys(SIMPLE_TYPES).find((candidate) => {
    const [base, variants] = candidate.split('@');
    return base === name && variants?.split(',').includes(variant);
  });
  const type = SIMPLE_TYPES[key ?? name];
  if (!type) throw new Error(`No simple type of the catalogue is called ${name}`);
  return type;
}
