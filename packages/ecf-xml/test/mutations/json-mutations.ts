import type { ElementRule, Schema } from '../../src/catalogue/element-rules.js';
import { trickyValue } from './bad-values.js';
import type { Random } from './random.js';
import { elementsOfAllTypes, goodValue } from './sample-documents.js';
import { isElement, type XmlElement } from './xml-tree.js';

type Json = Record<string, unknown>;

interface Target {
  /** The object or list that holds the value, and its key there. */
  holder: Json | unknown[];
  key: string;
  value: unknown;
  rule: ElementRule | undefined;
}

type Mutation = (target: Target, document: Json, random: Random) => void;

const foreign = elementsOfAllTypes();

/** The mutations of one value of a JSON document. */
export const JSON_MUTATIONS: Readonly<Record<string, Mutation>> = {
  missing: ({ holder, key }) => {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  },
  absent: (target, _document, random) =>
    put(target, random.pick<unknown>(['', null, {}, [], [[]], [''], { a: '' }, { a: [null] }])),
  blank: (target, _document, random) => put(target, random.pick([' ', '\n', '\t ', '\r\n', '\u00a0', '&#32;'])),
  value: (target, _document, random) => {
    if (typeof target.value === 'string') put(target, trickyValue(target.rule, target.value, random));
  },
  valueAnywhere: (target, _document, random) => put(target, trickyValue(target.rule, 'x', random)),
  good: (target, _document, random) => {
    if (target.rule?.type) put(target, goodValue(target.rule, random));
  },
  number: (target, _document, random) =>
    put(target, random.pick([0, 1, 31, 1.5, 100, 1e21, 1e-7, -1, 123456789, 2.25, 1180])),
  asNumber: (target) => {
    if (typeof target.value === 'string' && target.value !== '' && Number.isFinite(Number(target.value)))
      put(target, Number(target.value));
  },
  boolean: (target, _document, random) => put(target, random.chance(0.5)),
  object: (target, _document, random) =>
    put(target, random.pick<unknown>([{ a: '1' }, { '#text': 'x' }, { Version: '1.0' }])),
  list: (target) => put(target, [target.value]),
  listOfList: (target) => put(target, [[target.value]]),
  listOfTwo: (target) => put(target, [target.value, structuredClone(target.value)]),
  listWithGaps: (target) => put(target, ['', target.value, null, {}]),
  unlisted: (target) => {
    if (Array.isArray(target.value)) put(target, target.value[0]);
  },
  repeatedToLimit: (target, _document, random) => {
    const limit = target.rule && target.rule.max <= 20 ? target.rule.max : 3;
    const value = Array.isArray(target.value) ? target.value[0] : target.value;
    put(
      target,
      Array.from({ length: limit + random.below(2) }, () => structuredClone(value)),
    );
  },
  unknown: ({ holder }, _document, random) => {
    const key = random.pick([
      'Foo',
      'constructor',
      'toString',
      'Signature',
      '#text',
      '@xmlns',
      'ecf',
      '',
      ' ',
      'hasOwnProperty',
    ]);
    if (!Array.isArray(holder))
      holder[key] = random.pick<unknown>(['1', '', null, {}, { a: 'x' }, 'x', [], [['']], 0, false]);
  },
  foreign: ({ holder }, _document, random) => {
    if (Array.isArray(holder)) return;
    const { name, value } = random.pick(foreign);
    holder[name] = value ?? { a: '1' };
  },
  renamed: ({ holder, key, value }, _document, random) => {
    if (Array.isArray(holder)) return;
    delete holder[key];
    holder[random.pick([key.toLowerCase(), `${key}X`, random.pick(foreign).name])] = value;
  },
  reordered: ({ holder }, _document, random) => {
    if (Array.isArray(holder)) return;
    const entries = Object.entries(holder).sort(() => random.next() - 0.5);
    for (const [key] of entries) delete holder[key];
    for (const [key, value] of entries) holder[key] = value;
  },
  moved: ({ holder, key, value }, document, random) => {
    if (Array.isArray(holder)) return;
    delete holder[key];
    const others = targetsOf(document, undefined).filter((each) => !Array.isArray(each.holder));
    const other = others.length > 0 ? (random.pick(others).holder as Json) : document;
    other[key] = value;
  },
  escaped: (target, _document, random) =>
    put(
      target,
      random.pick([
        '&amp;',
        '&quot;a&quot;',
        '&#49;',
        '&#x31;',
        '&copy;',
        '&euro;&reg;',
        '&amp;lt;',
        '&nbsp;',
        '&#0;',
        '&#55296;',
        '&#1114112;',
        '&;',
        '&lt',
        '&#xD;',
        '&apos;',
        '&gt;',
      ]),
    ),
  uncarriable: (target, _document, random) =>
    put(target, random.pick(['\0', 'a\u0001', '\ud800', '\udc00x', '\uffff', 'x\u000b', '\ufffe'])),
  root: (_target, document, random) => {
    const [root] = Object.keys(document);
    const change = random.below(3);
    if (change === 0) document[random.pick(['ACECF', 'X', 'RFCE'])] = random.pick<unknown>([{}, '', { a: '1' }]);
    else if (change === 1 && root) {
      document[random.pick(['ecf', 'RFCE', 'ACECF', 'ECF'])] = document[root];
      delete document[root];
    } else if (root) document[root] = [document[root]];
  },
};

const NAMES = Object.keys(JSON_MUTATIONS);

/** Applies one to three mutations to a document; returns their names. */
export function mutateJson(document: Json, schema: Schema, random: Random): string[] {
  const names: string[] = [];
  for (let i = random.pick([1, 1, 1, 1, 2, 3]); i > 0; i--) {
    const targets = targetsOf(document, schema.root);
    if (targets.length === 0) break;
    const target = random.pick(targets);
    const name = random.pick(NAMES);
    JSON_MUTATIONS[name]!(target, document, random);
    names.push(`${name} ${target.key}`);
  }
  return names;
}

function put({ holder, key }: Target, value: unknown): void {
  if (Array.isArray(holder)) holder[Number(key)] = value;
  else holder[key] = value;
}

function targetsOf(document: Json, root: ElementRule | undefined): Target[] {
  const targets: Target[] = [];
  const walk = (holder: Json | unknown[], key: string, rule: ElementRule | undefined): void => {
    const value = Array.isArray(holder) ? holder[Number(key)] : holder[key];
    targets.push({ holder, key, value, rule });
    if (Array.isArray(value)) for (const index of value.keys()) walk(value, String(index), rule);
    else if (typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) walk(value as Json, name, rule?.byName.get(name));
    }
  };
  for (const name of Object.keys(document)) walk(document, name, root);
  return targets;
}

/** A valid XML document as JSON, without its signature. */
export function asJson(root: XmlElement): Json {
  const value = (node: XmlElement): unknown => {
    const children = node.children.filter(isElement);
    if (children.length === 0) return node.children.join('');
    const object: Json = {};
    for (const child of children) {
      if (child.name === 'Signature') continue;
      const present = object[child.name];
      if (present === undefined) object[child.name] = value(child);
      else if (Array.isArray(present)) present.push(value(child));
      else object[child.name] = [present, value(child)];
    }
    return object;
  };
  return { [root.name]: value(root) };
}
