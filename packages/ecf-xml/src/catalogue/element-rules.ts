import type { DocumentName, SchemaId } from '../documents.js';
import { stricterPattern, type ValueCheck, valueCheck } from '../values/value-check.js';
import { isPlain } from '../xml/characters.js';
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
  /** A leaf that stands once. */
  isSingleLeaf: boolean;
  /** Whether its type takes only values that JSON and XML write as they are: numbers and codes of a list. */
  isPlainWhenGood: boolean;
  check: ValueCheck;
  /** A pattern that the check reads more loosely than the authority does; null for nearly all. */
  stricter: RegExp | null;
  openTag: string;
  closeTag: string;
  /** See {@link tagsBetween}. */
  tagsBefore: (string | undefined)[];
  /** See {@link childNamed}: the child a group last began with, the element that last followed this one in its group. */
  begunBy: ElementRule | undefined;
  followedBy: ElementRule | undefined;
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
    stricter,
    isSingleLeaf: type !== null && row.max === 1,
    isPlainWhenGood: type !== null && isPlainWhenGood(type),
    openTag: interned(`<${row.name}>`),
    closeTag: interned(`</${row.name}>`),
    tagsBefore: [],
    begunBy: undefined,
    followedBy: undefined,
  };
}

function isPlainWhenGood({ base, enumeration }: SimpleType): boolean {
  return base !== 'string' || (enumeration?.every(isPlain) ?? false);
}

/**
 * The text in the form the engine keeps property names in: in one piece, and the very string that the keys of a parsed
 * object are. Looking up and appending such strings is several times faster than equal ones cut from a table.
 */
function interned(text: string): string {
  return Object.keys({ [text]: null })[0]!;
}

/**
 * The child of that name, or undefined. Elements mostly follow each other as they did before, in other lines and documents,
 * so that one is looked at first.
 *
 * @param previous the child that stands before it, null for the first
 */
export function childNamed(group: ElementRule, name: string, previous: ElementRule | null): ElementRule | undefined {
  const likely = previous === null ? group.begunBy : previous.followedBy;
  if (likely !== undefined && likely.name === name) return likely;
  const child = group.byName.get(name);
  if (child === undefined) return undefined;
  if (previous === null) group.begunBy = child;
  else previous.followedBy = child;
  return child;
}

/** The end tag of an element and the start tag of one that follows it in the same group; put together once for each two. */
export function tagsBetween(ended: ElementRule, begun: ElementRule): string {
  const known = ended.tagsBefore[begun.index];
  if (known !== undefined) return known;
  const tags = interned(ended.closeTag + begun.openTag);
  ended.tagsBefore[begun.index] = tags;
  return tags;
}

/** The meaning of a type's name in one document: its variant where there is one. */
function simpleType(name: string, variant: string): SimpleType {
  const key = Object.keys(SIMPLE_TYPES).find((candidate) => {
    const [base, variants] = candidate.split('@');
    return base === name && variants?.split(',').includes(variant);
  });
  const type = SIMPLE_TYPES[key ?? name];
  if (!type) throw new Error(`No simple type of the catalogue is called ${name}`);
  return type;
}
