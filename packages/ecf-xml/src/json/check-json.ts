import { type DocumentNode, type DocumentValue, withLineFeeds } from '@ecf/domain';
import { type ElementRule, type Schema, schemaOf } from '../catalogue/element-rules.js';
import { companionSchema, isDocumentName, namedType } from '../catalogue/schema-choice.js';
import { decided, pathOf, undecided } from '../checked-document.js';
import type { CheckedDocument } from '../documents.js';
import { FaultList, noSuchDocument, noSuchType, shorten } from '../fault-list.js';
import { isBlankText, trimBlanks } from '../values/blanks.js';
import { isCarriable, isPlain } from '../xml/characters.js';
import { asSingle, isAbsent, isNumber, isObject, type JsonObject, leafText, presentOf } from './json-values.js';

/**
 * Normalises a parsed JSON document and checks its structure with the results of an XML Schema processor. A missing
 * FechaHoraFirma or Signature is not a fault.
 *
 * Empty strings, strings of blanks, null, empty objects and lists count as absent, and so does a group left without content.
 * One value may be given for a list of one and the reverse. Numbers are taken for amounts, quantities and percentages. Values
 * that were escaped already are decoded once, and CR and CR LF become LF. Texts are never changed otherwise. The tree may
 * share objects with the value: change neither afterwards.
 *
 * @param value what a JSON parser gave, the root key on top: `{"ECF": {...}}`
 */
export function checkJson(value: unknown): CheckedDocument {
  return checkValue(value).checked;
}

interface CheckedValue {
  readonly checked: CheckedDocument;
  /** The faults that only the authority finds: the schema allows them. */
  readonly stricter: FaultList;
  /** Warnings: what is written otherwise than the caller stated it. */
  readonly rewritten: FaultList;
}

/** The check, with the faults that only the authority finds and the warnings. */
export function checkValue(value: unknown): CheckedValue {
  const none = new FaultList('');
  const object = asSingle(value);
  const names = isObject(object) ? Object.keys(object).filter((name) => !isAbsent(object[name])) : [];
  const root = names.find(isDocumentName);
  const notFound = (name: string): CheckedValue => {
    return { checked: undecided(null, noSuchDocument(name)), stricter: none, rewritten: none };
  };
  if (!isObject(object) || root === undefined) return notFound(names[0] ?? '');
  let id = companionSchema(root);
  if (!id) {
    const tipoEcf = headerText(object[root], 'TipoeCF');
    const type = tipoEcf === null ? null : namedType(tipoEcf);
    if (!type) {
      const encf = headerText(object[root], 'eNCF');
      return { checked: undecided(root, noSuchType(tipoEcf), encf), stricter: none, rewritten: none };
    }
    id = `ecf-${type}`;
  }
  const schema = schemaOf(id);
  const checker = new JsonChecker(schema);
  for (const name of names) {
    if (name === root) continue;
    checker.faults.add(
      shorten(name),
      'unknown',
      `${shorten(name)} is beside ${root}; send one document, with ${root} as its only key.`,
    );
  }
  const content = checker.root(object[root]);
  if (content === undefined) return notFound('');
  const checked = decided(schema, isNode(content) ? content : {}, checker.faults);
  return { checked, stricter: checker.stricter, rewritten: checker.rewritten };
}

/** A text of Encabezado.IdDoc as written, or null when there is none. */
function headerText(ecf: unknown, name: string): string | null {
  let value = asSingle(ecf);
  for (const key of ['Encabezado', 'IdDoc', name]) {
    value = isObject(value) && Object.hasOwn(value, key) ? asSingle(value[key]) : undefined;
  }
  if (isAbsent(value)) return null;
  return leafText(value) ?? JSON.stringify(value) ?? '';
}

/** Filled at signing, so its absence is not a fault before. */
const FILLED_AT_SIGNING = 'FechaHoraFirma';

/** Absent: there is no value. Null: there is a value that a tree cannot hold. */
type Normalised = DocumentValue | null | undefined;

class JsonChecker {
  readonly faults: FaultList;
  readonly stricter: FaultList;
  readonly rewritten: FaultList;

  constructor(private readonly schema: Schema) {
    this.faults = new FaultList(schema.source);
    this.stricter = new FaultList(schema.source);
    this.rewritten = new FaultList('XML 1.0, 2.11; .NET XmlDocument', 'warning');
  }

  root(value: unknown): Normalised {
    return this.single(this.schema.root, value, '', 0);
  }

  /**
   * A value where one is allowed.
   *
   * @param position in its list, counted from 1, or 0 where the element cannot repeat
   */
  private single(rule: ElementRule, value: unknown, parent: string, position: number): Normalised {
    if (Array.isArray(value)) {
      const one = presentOf(value);
      if (one === undefined) return hasBlanks(value) ? this.blanks(rule, pathOf(parent, rule, position)) : undefined;
      if (!Array.isArray(one)) return this.single(rule, one, parent, position);
      this.faults.tooMany(pathOf(parent, rule, position), rule);
      return null;
    }
    if (rule.children) return this.group(rule, value, pathOf(parent, rule, position));
    const text = leafText(value);
    if (text === '') return undefined;
    if (text === null) return this.noText(rule, value, parent, position);
    if (isBlankText(text)) return this.blanks(rule, pathOf(parent, rule, position));
    if (!rule.takesNumber && isNumber(value)) {
      this.faults.textExpected(pathOf(parent, rule, position), rule, text);
      return text;
    }
    return this.text(rule, text, parent, position);
  }

  private value(rule: ElementRule, value: unknown, parent: string): Normalised {
    return rule.max > 1 ? this.list(rule, value, parent) : this.single(rule, value, parent, 0);
  }

  /** A value where several are allowed. */
  private list(rule: ElementRule, value: unknown, parent: string): Normalised {
    const values = Array.isArray(value) ? value : [value];
    const list: DocumentValue[] = [];
    let count = 0;
    for (const each of values) {
      if (this.faults.isFull) break;
      const one = this.single(rule, each, parent, count + 1);
      if (one === undefined) continue;
      count++;
      if (one !== null) list.push(one);
    }
    if (count === 0) return undefined;
    if (count > rule.max) this.faults.tooMany(pathOf(parent, rule, 0), rule);
    return list.length === 0 ? null : list;
  }

  private group(rule: ElementRule, value: unknown, path: string): Normalised {
    if (isObject(value)) return this.elements(rule, value, path);
    if (value === undefined || value === null || value === '') return undefined;
    const text = leafText(value);
    if (text !== null && isBlankText(text)) return this.blanks(rule, path);
    this.faults.add(path, 'type', `${rule.name} is a group; write an object with its elements.`);
    return null;
  }

  private elements(rule: ElementRule, object: JsonObject, path: string): Normalised {
    const found: FoundElement[] = [];
    const unusable: ElementRule[] = [];
    let present = false;
    let requiredSeen = 0;
    let isNormalised = true;
    for (const name of Object.keys(object)) {
      const given = object[name];
      const child = rule.byName.get(name);
      if (!child && !isAbsent(given)) {
        present = true;
        this.faults.unknown(`${path}.${shorten(name)}`, name, rule, this.schema);
      }
      const value = child && this.value(child, given, path);
      if (value !== given || value === undefined) isNormalised = false;
      if (!child || value === undefined) continue;
      present = true;
      if (child.required) requiredSeen++;
      if (value === null) {
        unusable.push(child);
        continue;
      }
      if (found.length > 0 && child.index < found.at(-1)!.rule.index) isNormalised = false;
      found.push({ rule: child, value });
    }
    if (!present) return undefined;
    if (requiredSeen < rule.requiredCount) {
      this.missing(rule, object, path, new Set([...found.map((each) => each.rule), ...unusable]));
    }
    if (found.length === 0) {
      this.stricter.emptyTag(path, rule.name);
      return null;
    }
    return isNormalised ? (object as DocumentNode) : nodeOf(found);
  }

  private blanks(rule: ElementRule, path: string): undefined {
    this.rewritten.blanks(path, rule);
  }

  private text(rule: ElementRule, stated: string, parent: string, position: number): Normalised {
    let text = stated;
    if (!isPlain(text)) {
      if (!isCarriable(text)) {
        const message = `${rule.name} holds a character that XML cannot carry; remove it.`;
        this.faults.add(pathOf(parent, rule, position), 'type', message, rule.typeName);
        return null;
      }
      text = withLineFeeds(text);
      if (text !== stated) this.rewritten.carriageReturn(pathOf(parent, rule, position), rule);
    }
    const fault = rule.check(text);
    if (fault !== null) {
      this.faults.badValue(pathOf(parent, rule, position), rule, fault, text);
    } else if (rule.stricter !== null && !rule.stricter.test(trimBlanks(text))) {
      this.stricter.badValue(pathOf(parent, rule, position), rule, 'pattern', text);
    }
    return text;
  }

  /** The message for a value that must be a text and is none. */
  private noText(rule: ElementRule, value: unknown, parent: string, position: number): Normalised {
    if (isAbsent(value)) return undefined;
    const kind = typeof value === 'object' ? 'a group' : `a ${typeof value}`;
    const message = `${rule.name} is ${kind}; write its value as a string.`;
    this.faults.add(pathOf(parent, rule, position), 'type', message, rule.typeName);
    return null;
  }

  private missing(rule: ElementRule, object: JsonObject, path: string, seen: ReadonlySet<ElementRule>): void {
    for (const child of rule.children!) {
      if (!child.required || child.name === FILLED_AT_SIGNING || seen.has(child)) continue;
      const value = Object.hasOwn(object, child.name) ? object[child.name] : undefined;
      const isBlank = typeof value === 'string' && value !== '';
      this.faults.missing(`${path}.${child.name}`, child, isBlank);
    }
  }
}

/** Whether a list without content has a text of blanks: some converters from XML write every value as a list of one. */
function hasBlanks(list: readonly unknown[]): boolean {
  return list.flat(Number.POSITIVE_INFINITY).some((each) => typeof each === 'string' && each !== '');
}

interface FoundElement {
  rule: ElementRule;
  value: DocumentValue;
}

/** A node with the elements in the catalogue's order. */
function nodeOf(found: FoundElement[]): DocumentNode {
  found.sort((one, other) => one.rule.index - other.rule.index);
  return Object.fromEntries(found.map(({ rule, value }) => [rule.name, value]));
}

function isNode(value: Normalised): value is DocumentNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
