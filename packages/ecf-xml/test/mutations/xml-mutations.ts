import type { ElementRule, Schema } from '../../src/catalogue/element-rules.js';
import { trickyValue } from './bad-values.js';
import type { Random } from './random.js';
import { elementsOfAllTypes, goodValue, signature } from './sample-documents.js';
import { copy, element, elementsOf, isElement, type XmlContent, type XmlElement } from './xml-tree.js';

interface Target {
  node: XmlElement;
  parent: XmlElement | null;
  /** The rule of the element, while the document still follows the schema. */
  rule: ElementRule | undefined;
}

type Mutation = (target: Target, root: XmlElement, schema: Schema, random: Random) => void;

const XSI = 'http://www.w3.org/2001/XMLSchema-instance';
const foreign = elementsOfAllTypes();

/** The mutations of one element of an XML document. Some intentionally leave the document valid. */
export const XML_MUTATIONS: Readonly<Record<string, Mutation>> = {
  missing: ({ node, parent }) => remove(node, parent),
  empty: ({ node }) => fill(node, []),
  blank: ({ node }, _root, _schema, random) => fill(node, [random.pick([' ', '\n  ', '\t', '\u00a0', '\r'])]),
  value: ({ node, rule }, _root, _schema, random) => {
    if (!node.children.some(isElement)) fill(node, [trickyValue(rule, textOf(node), random)]);
  },
  valueAgain: (target, root, schema, random) => XML_MUTATIONS.value!(target, root, schema, random),
  anotherGoodValue: ({ node, rule }, _root, _schema, random) => {
    if (rule?.type) fill(node, [goodValue(rule, random)]);
  },
  wrongCode: ({ node, rule }, _root, _schema, random) => {
    const code = rule?.type?.enumeration ? random.pick(rule.type.enumeration) : '';
    if (code)
      node.children = [
        random.pick([`0${code}`, `${code}0`, `+${code}`, ` ${code} `, `${code}.0`, code.toLowerCase(), code.slice(1)]),
      ];
  },
  atLength: ({ node, rule }, _root, _schema, random) => lengthened(node, rule, 0, random),
  tooLong: ({ node, rule }, _root, _schema, random) => lengthened(node, rule, 1, random),
  repeated: ({ node, parent }) => insertBeside(node, parent, copy(node)),
  repeatedToLimit: ({ node, parent, rule }, _root, _schema, random) => {
    const limit = rule && rule.max <= 20 ? rule.max : 3;
    const siblings = parent?.children.filter((each) => isElement(each) && each.name === node.name).length ?? 1;
    const missing = limit - siblings + random.below(2);
    for (let i = 0; i < missing; i++) insertBeside(node, parent, copy(node));
  },
  repeatedElsewhere: ({ node, parent }, _root, _schema, random) => insertAt(parent, copy(node), random),
  unknown: ({ parent }, _root, _schema, random) =>
    insertAt(parent, element(random.pick(['Foo', 'foo', 'Signature', 'ECF', 'constructor', 'Ñandú']), ['1']), random),
  foreign: ({ parent }, _root, _schema, random) => {
    const choices = foreign.filter((each) => each.group === parent?.name);
    const { name, value } = random.pick(choices.length > 0 && random.chance(0.8) ? choices : foreign);
    insertAt(parent, element(name, value === null ? [] : [value]), random);
  },
  misplaced: ({ node, parent }, _root, _schema, random) => {
    remove(node, parent);
    insertAt(parent, node, random);
  },
  swapped: ({ node, parent }) => {
    const at = parent?.children.indexOf(node) ?? -1;
    if (parent && at > 0) [parent.children[at - 1], parent.children[at]] = [node, parent.children[at - 1]!];
  },
  movedAway: ({ node, parent }, root, _schema, random) => {
    const inside = new Set(elementsOf(node).map((each) => each.node));
    const other = random.pick(elementsOf(root)).node;
    if (inside.has(other)) return;
    remove(node, parent);
    insertAt(other, node, random);
  },
  renamed: ({ node }, _root, _schema, random) =>
    rename(node, random.pick([node.name.toLowerCase(), `${node.name}X`, random.pick(foreign).name, `x-${node.name}`])),
  textBetween: ({ node }, _root, _schema, random) =>
    insertAt(node, random.pick(['x', '1', '\u00a0', ' ', '\n', '\u200b']), random),
  cdata: ({ node }, _root, _schema, random) =>
    insertAt(node, { raw: `<![CDATA[${random.pick(['', ' ', '1', 'x', '<', '\n'])}]]>` }, random),
  valueInCdata: ({ node }) => {
    if (!node.children.some(isElement)) fill(node, [{ raw: `<![CDATA[${textOf(node).replaceAll(']]>', '')}]]>` }]);
  },
  comment: ({ node }, _root, _schema, random) =>
    insertAt(node, { raw: random.pick(['<!---->', '<!-- <x> -->', '<!--1-->']) }, random),
  instruction: ({ node }, _root, _schema, random) =>
    insertAt(node, { raw: random.pick(['<?x?>', '<?y <z> ?>', '<?a 1?>']) }, random),
  commentInValue: ({ node }, _root, _schema, random) =>
    splitValue(node, random.pick(['<!--c-->', '<?p?>', '<![CDATA[]]>']), random),
  reference: ({ node }, _root, _schema, random) =>
    insertAt(
      node,
      { raw: random.pick(['&#32;', '&#49;', '&amp;', '&#xA0;', '&#13;', '&lt;', '&apos;', '&#x1F600;']) },
      random,
    ),
  elementInValue: ({ node }, _root, _schema, random) =>
    insertAt(node, element(random.pick(['x', 'Version', node.name])), random),
  attribute: ({ node }, _root, _schema, random) => {
    const attributes: [string, string][] = [
      ['id', '1'],
      ['xml:lang', 'es'],
      ['xml:space', 'preserve'],
      ['xmlns:x', 'urn:x'],
      ['xmlns', ''],
      ['xmlns', 'urn:x'],
      ['Version', '1.0'],
      ['a', 'x > y'],
    ];
    node.attributes.push(random.pick(attributes));
  },
  instanceAttribute: ({ node, rule }, root, _schema, random) => {
    const prefix = random.pick(['xsi', 'i']);
    root.attributes.push([`xmlns:${prefix}`, XSI], ['xmlns:xs', 'http://www.w3.org/2001/XMLSchema']);
    const type = rule?.typeName ?? 'xs:string';
    const attributes: [string, string][] = [
      [`${prefix}:type`, type],
      [`${prefix}:type`, ` ${type}`],
      [
        `${prefix}:type`,
        random.pick(['xs:string', 'xs:decimal', 'xs:token', 'xs:NCName', 'AlfNum20Type', 'x:y:z', '']),
      ],
      [`${prefix}:nil`, random.pick(['true', 'false', '0', 'x'])],
      [`${prefix}:schemaLocation`, 'urn:x x.xsd'],
      [`${prefix}:noNamespaceSchemaLocation`, 'x.xsd'],
      [`${prefix}:other`, '1'],
    ];
    node.attributes.push(random.pick(attributes));
  },
  prefixed: ({ node }, root) => {
    root.attributes.push(['xmlns:p', 'urn:p']);
    node.name = `p:${node.name}`;
  },
  signature: (_target, root, _schema, random) => {
    const at = root.children.findIndex((child) => isElement(child) && child.name === 'Signature');
    const present = root.children[at];
    if (!isElement(present)) return;
    const replacements: XmlContent[][] = [
      [],
      [present, signature()],
      [element('Signature')],
      [element('ds:Signature')],
      [element('Foo', [element('Bar'), 'x', element('Bar')])],
      [{ raw: '<!-- signed -->' }, present, ' '],
      [present, { raw: '<![CDATA[ ]]>' }],
      [present, 'x'],
      [element('FechaHoraFirma', ['x'])],
    ];
    root.children.splice(at, 1, ...random.pick(replacements));
  },
  signatureElsewhere: ({ parent }, _root, _schema, random) => insertAt(parent, signature(), random),
  root: (_target, root, _schema, random) => {
    const change = random.below(4);
    if (change === 0)
      root.name = random.pick(['ecf', 'ECFS', 'RFCE', 'ACECF', 'ANECF', 'ARECF', 'SemillaModel', 'x:ECF']);
    else if (change === 1) root.attributes.push(['xmlns', random.pick(['urn:ecf', ''])]);
    else if (change === 2) root.attributes.push(['xmlns:xsi', XSI], ['xmlns:xsd', 'http://www.w3.org/2001/XMLSchema']);
    else root.children.push(random.pick(['x', ' ', '\u00a0']));
  },
};

const NAMES = Object.keys(XML_MUTATIONS);

/** Applies one to three mutations to a document; returns their names. */
export function mutateXml(root: XmlElement, schema: Schema, random: Random): string[] {
  const names: string[] = [];
  for (let i = random.pick([1, 1, 1, 1, 2, 3]); i > 0; i--) {
    const name = random.pick(NAMES);
    const { node, parent } = random.pick(elementsOf(root));
    XML_MUTATIONS[name]!({ node, parent, rule: ruleOf(root, node, schema) }, root, schema, random);
    names.push(`${name} ${node.name}`);
  }
  return names;
}

function ruleOf(root: XmlElement, node: XmlElement, schema: Schema): ElementRule | undefined {
  const find = (at: XmlElement, rule: ElementRule | undefined): ElementRule | undefined => {
    if (at === node) return rule;
    for (const child of at.children) {
      if (!isElement(child)) continue;
      const found = find(child, rule?.byName.get(child.name));
      if (found) return found;
    }
    return undefined;
  };
  return find(root, schema.root);
}

function textOf(node: XmlElement): string {
  return node.children.filter((child) => typeof child === 'string').join('');
}

function remove(node: XmlElement, parent: XmlElement | null): void {
  const at = parent?.children.indexOf(node) ?? -1;
  if (at >= 0) parent!.children.splice(at, 1);
}

function insertBeside(node: XmlElement, parent: XmlElement | null, added: XmlContent): void {
  parent?.children.splice(parent.children.indexOf(node) + 1, 0, added);
}

function insertAt(parent: XmlElement | null, added: XmlContent, random: Random): void {
  parent?.children.splice(random.below(parent.children.length + 1), 0, added);
}

function lengthened(node: XmlElement, rule: ElementRule | undefined, extra: number, random: Random): void {
  const length = rule?.type?.maxLength ?? rule?.type?.totalDigits;
  if (length === undefined) return;
  const filler =
    rule?.type?.base === 'string' ? random.pick(['a', 'ñ', '1', ' ', '&', '"']) : random.pick(['1', '9', '0']);
  fill(node, [filler.repeat(length + extra)]);
}

function splitValue(node: XmlElement, raw: string, random: Random): void {
  const text = textOf(node);
  if (node.children.some(isElement)) return;
  const at = random.below(text.length + 1);
  if (/[\udc00-\udfff]/.test(text[at] ?? '')) return;
  fill(node, [text.slice(0, at), { raw }, text.slice(at)]);
}

function fill(node: XmlElement, children: XmlContent[]): void {
  node.children = children;
}

function rename(node: XmlElement, name: string): void {
  node.name = name;
}
