import { ECF_TYPES, type EcfType, type Fault, type Severity, storableText } from '@ecf/domain';
import { ECF_ELEMENTS } from './catalogue/ecf-elements.js';
import type { ElementRule, Schema } from './catalogue/element-rules.js';
import { describeType } from './values/describe-type.js';
import type { ValueFault } from './values/value-check.js';

/** A document with more faults than this is not helped by more of them. */
const MAX_FAULTS = 1000;

/** Collects the structural faults of one document and words them: field, rule, remedy. */
export class FaultList {
  readonly faults: Fault[] = [];

  constructor(
    private readonly source: string,
    private readonly severity: Severity = 'error',
  ) {}

  /** Whether nothing more is listed: wording more, and looking for it, is of no use. */
  get isFull(): boolean {
    return this.faults.length > MAX_FAULTS;
  }

  add(path: string, rule: string, message: string, typeName?: string | null): void {
    if (this.isFull) return;
    if (this.faults.length === MAX_FAULTS) {
      this.push(path, rule, `There are more than ${MAX_FAULTS} faults; the others are not listed.`, this.source);
      return;
    }
    this.push(path, rule, message, typeName ? `${this.source}, ${typeName}` : this.source);
  }

  /** @param isBlank it is there, with blanks only */
  missing(path: string, rule: ElementRule, isBlank = false): void {
    if (this.isFull) return;
    let what = rule.type ? `write ${describeType(rule.type)}` : 'add the group with its elements';
    // 32 and RFCE require the group and none of its elements; the business rules require more from 250,000.00.
    if (rule.name === 'Comprador' && rule.requiredCount === 0)
      what = 'add it with RazonSocialComprador, from 250,000.00 also with RNCComprador or IdentificadorExtranjero';
    const why = isBlank ? 'holds only blanks, which count as absent' : 'is missing';
    this.add(path, 'required', `${rule.name} ${why}; ${what}.`, rule.typeName);
  }

  badValue(path: string, rule: ElementRule, fault: ValueFault, value: string): void {
    const { type } = rule;
    if (!type || this.isFull) return;
    const given = shorten(value);
    const is =
      fault === 'empty' ? 'is empty' : `is "${given}"${fault === 'length' ? ` (${value.length} characters)` : ''}`;
    this.add(path, fault, `${rule.name} ${is}; it must be ${describeType(type)}.`, rule.typeName);
  }

  /** A number where leading zeros count. */
  textExpected(path: string, rule: ElementRule, stated: string): void {
    if (this.isFull) return;
    const message = `${rule.name} is the number ${shorten(stated)}; send it as text: a number loses its leading zeros.`;
    this.add(path, 'text-expected', message, rule.typeName);
  }

  /** A warning: .NET drops such text, so the signature would not hold there. */
  blanks(path: string, rule: ElementRule): void {
    if (this.isFull) return;
    this.add(path, 'blanks', `${rule.name} holds only blanks, which count as absent; it is left out.`);
  }

  /** A warning: XML parsers and .NET read CR as LF, so the signature would not hold there. */
  carriageReturn(path: string, rule: ElementRule): void {
    if (this.isFull) return;
    const message = `${rule.name} holds a carriage return (CR); it is written as a line feed (LF), as recipients read it.`;
    this.add(path, 'carriage-return', message);
  }

  tooMany(path: string, rule: ElementRule): void {
    if (this.isFull) return;
    const limit = rule.max === 1 ? 'once' : `${rule.max} times`;
    this.add(path, 'repeat', `${rule.name} appears more often than allowed; at most ${limit}.`);
  }

  unknown(path: string, name: string, group: ElementRule, schema: Schema): void {
    if (this.isFull) return;
    const close = group.children?.find((child) => child.name.toLowerCase() === name.toLowerCase());
    const others = schema.document === 'ECF' && !close ? typesWithElement(group.name, name) : [];
    const elsewhere = others.length > 0 ? ` (types ${others.join(', ')} have it)` : '';
    const remedy = close ? `write ${close.name}` : 'remove it, or move it to its group';
    const message = `${shorten(name)} is not an element of ${group.name} in ${titleOf(schema)}${elsewhere}; ${remedy}.`;
    this.add(path, 'unknown', message);
  }

  /** Content that some schemas allow and the authority refuses in every document. */
  emptyTag(path: string, name: string): void {
    const message = `${name} is empty; leave it out or fill it in, because empty tags are refused.`;
    if (this.faults.length < MAX_FAULTS) this.push(path, 'empty', message, 'Descripción Técnica e-CF v1.6 p.59');
  }

  /** No schema speaks of it, and the authority refuses it in every document, naming no field. */
  byteOrderMark(root: string): void {
    const message = 'The document begins with a byte order mark, which the authority rejects; write it without.';
    const source = 'Descripción Técnica e-CF v1.6, bitácora 18-04-2022: UTF-8 without BOM; verdict observed';
    this.faults.push({ path: root, rule: 'schema.unknown', code: '1', message, source, severity: 'error' });
  }

  private push(path: string, rule: string, message: string, source: string): void {
    this.faults.push({ path, rule: `schema.${rule}`, code: null, message, source, severity: this.severity });
  }
}

/** The fault of a root that is not one of the fifteen documents. */
export function noSuchDocument(name: string): FaultList {
  const faults = new FaultList('catalogue of documents');
  const root = shorten(name);
  const remedy = 'the root must be ECF, RFCE, ACECF, ANECF, ARECF or SemillaModel';
  faults.add(root, 'unknown', `${root || 'The document'} is not a document of this system; ${remedy}.`);
  return faults;
}

/** The fault of an e-CF whose TipoeCF names no schema. */
export function noSuchType(tipoEcf: string | null): FaultList {
  const faults = new FaultList('XSD e-CF v.1.0');
  const path = 'ECF.Encabezado.IdDoc.TipoeCF';
  const types = `one of ${ECF_TYPES.join(', ')}`;
  if (tipoEcf === null) faults.add(path, 'required', `TipoeCF is missing; write ${types}.`, 'TipoeCFType');
  else faults.add(path, 'enumeration', `TipoeCF is "${shorten(tipoEcf)}"; it must be ${types}.`, 'TipoeCFType');
  return faults;
}

/** Names come from outside and may be of any length. */
export function shorten(name: string): string {
  return name.length > 60 ? `${storableText(name, 57)}...` : name;
}

function titleOf(schema: Schema): string {
  return schema.document === 'ECF' ? `an e-CF of type ${schema.id.slice(4)}` : `the document ${schema.document}`;
}

let index: Map<string, EcfType[]> | null = null;

/** The types of e-CF that have an element of that name in a group of that name. */
function typesWithElement(group: string, name: string): readonly EcfType[] {
  index ??= buildIndex();
  return index.get(`${group}/${name}`) ?? [];
}

function buildIndex(): Map<string, EcfType[]> {
  const found = new Map<string, EcfType[]>();
  const groups: string[] = [];
  for (const line of ECF_ELEMENTS.split('\n').filter((each) => each.trim() !== '')) {
    const depth = line.search(/\S/) / 2;
    const [name = '', presence = ''] = line.trim().split(/\s+/);
    groups[depth] = name;
    if (depth > 0)
      found.set(
        `${groups[depth - 1]}/${name}`,
        ECF_TYPES.filter((_, column) => presence[column] !== '.'),
      );
  }
  return found;
}
