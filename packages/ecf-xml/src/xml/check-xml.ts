import type { DocumentNode, DocumentValue } from '@ecf/domain';
import { type ElementRule, type Schema, schemaOf } from '../catalogue/element-rules.js';
import { companionSchema, isDocumentName, namedType } from '../catalogue/schema-choice.js';
import { decided, pathOf, undecided } from '../checked-document.js';
import type { CheckedDocument } from '../documents.js';
import { FaultList, noSuchDocument, noSuchType, shorten } from '../fault-list.js';
import { isBlankText, trimBlanks } from '../values/blanks.js';
import { attributeFault } from './attributes.js';
import { findText } from './find-text.js';
import { genericContent } from './generic-content.js';
import { declare, elementName, type NamespaceScope, NO_NAMESPACES, XML_SIGNATURE } from './namespaces.js';
import type { CanonicalXml } from './parse-xml.js';
import { XmlScanner } from './scanner.js';
import { SequenceProgress } from './sequence-progress.js';

/**
 * Checks the structure of an XML document by the schema of its root and TipoeCF, with the verdicts of an XML Schema
 * processor. The tree comes without the XML signature.
 */
export function checkXml(xml: CanonicalXml): CheckedDocument {
  return checkSource(xml.source).checked;
}

/** The check, and the faults that only the authority finds: the schema allows them. */
export function checkSource(source: string): { checked: CheckedDocument; stricter: FaultList } {
  const scanner = new XmlScanner(source);
  let event = scanner.next();
  while (event !== 'open' && event !== 'end') event = scanner.next();
  const root = scanner.name;
  const attributes = scanner.attributes();
  const scope = declare(NO_NAMESPACES, attributes);
  const { namespace } = elementName(scope, root);
  const none = new FaultList('');
  if (namespace !== '' || !isDocumentName(root)) {
    const name = namespace === '' ? root : `${shorten(root)} of the namespace ${shorten(namespace)}`;
    return { checked: undecided(null, noSuchDocument(name)), stricter: none };
  }
  let id = companionSchema(root);
  if (!id) {
    const tipoEcf = findText(source, ['ECF', 'Encabezado', 'IdDoc', 'TipoeCF']);
    const type = tipoEcf === null ? null : namedType(tipoEcf);
    if (!type) {
      const encf = findText(source, ['ECF', 'Encabezado', 'IdDoc', 'eNCF']);
      return { checked: undecided(root, noSuchType(tipoEcf), encf), stricter: none };
    }
    id = `ecf-${type}`;
  }
  const schema = schemaOf(id);
  const checker = new XmlChecker(scanner, schema);
  const content = checker.root(attributes, scope);
  return { checked: decided(schema, content, checker.faults), stricter: checker.stricter };
}

/** Reads the document once and compares each element with the schema. */
class XmlChecker {
  readonly faults: FaultList;
  readonly stricter: FaultList;
  private behindLast = 0;

  constructor(
    private readonly scanner: XmlScanner,
    private readonly schema: Schema,
  ) {
    this.faults = new FaultList(schema.source);
    this.stricter = new FaultList(schema.source);
  }

  /** The root, just opened: its elements, and after the last one the signature or its replacement. */
  root(attributes: Attributes, scope: NamespaceScope): DocumentNode {
    const { root, signatureRequired } = this.schema;
    this.checkAttributes(root.name, root, attributes, scope, null);
    const node = this.content(root, root.name, scope);
    if (signatureRequired && this.behindLast === 0) {
      this.faults.add(`${root.name}.Signature`, 'required', 'Signature is missing; sign the document.');
    }
    return node;
  }

  /** The content of the group just opened, up to its end tag. */
  private content(rule: ElementRule, path: string, scope: NamespaceScope): DocumentNode {
    const { scanner } = this;
    const node: DocumentNode = {};
    const progress = new SequenceProgress(rule);
    let event = scanner.selfClosing ? 'close' : scanner.next();
    for (; event !== 'close' && event !== 'end'; event = scanner.next()) {
      if (event === 'open') this.child(node, rule, path, scope, progress);
      else if (event !== 'text' || !isBlankText(scanner.characters)) {
        this.faults.add(path, 'type', `${rule.name} holds text between its elements; a group holds elements only.`);
      }
    }
    this.missing(rule, path, progress);
    return node;
  }

  /** Reads the element just opened inside a group into the node, if its place is allowed. */
  private child(
    node: DocumentNode,
    rule: ElementRule,
    path: string,
    scope: NamespaceScope,
    progress: SequenceProgress,
  ): void {
    const { scanner } = this;
    const { name } = scanner;
    const attributes = scanner.hasAttributes ? scanner.attributes() : NO_ATTRIBUTES;
    const inner = attributes === NO_ATTRIBUTES ? scope : declare(scope, attributes);
    if (progress.complete && rule === this.schema.root) {
      this.behind(node, rule, name, inner);
      return;
    }
    const child = inner !== NO_NAMESPACES && inner.get('') ? undefined : rule.byName.get(name);
    if (!child || !this.inSequence(child, path, progress)) {
      if (!child) this.unexpected(name, inner, rule, path);
      scanner.skipElement();
      return;
    }
    const position = child.max > 1 ? progress.count : 0;
    const value = child.children
      ? this.group(child, pathOf(path, child, position), attributes, inner)
      : this.leaf(child, path, position, attributes, inner);
    if (value === null) this.stricter.emptyTag(pathOf(path, child, position), name);
    else if (position === 0) node[child.name] = value;
    else append(node, child.name, value);
  }

  /** An element after the document's last one: the signature, or a replacement that XML Schema allows. */
  private behind(node: DocumentNode, root: ElementRule, name: string, scope: NamespaceScope): void {
    this.behindLast++;
    const signature = isSignature(name, scope);
    if (this.behindLast > 1) {
      const message = 'Only one element, the Signature, may follow the last element of the document; remove it.';
      this.faults.add(`${root.name}.${shorten(name)}`, signature ? 'repeat' : 'unknown', message);
    }
    if (signature) {
      this.scanner.skipElement();
      return;
    }
    const content = genericContent(this.scanner);
    if (content !== '' && !root.byName.has(name) && name !== '__proto__') node[name] = content;
  }

  /** A group; null if it is empty. */
  private group(rule: ElementRule, path: string, attributes: Attributes, scope: NamespaceScope): DocumentNode | null {
    this.checkAttributes(path, rule, attributes, scope, null);
    const node = this.content(rule, path, scope);
    for (const _ in node) return node;
    return null;
  }

  /** A leaf's text as written, or null when it has none. */
  private leaf(
    rule: ElementRule,
    parent: string,
    position: number,
    attributes: Attributes,
    scope: NamespaceScope,
  ): string | null {
    const { scanner } = this;
    const text = scanner.selfClosing
      ? ''
      : (scanner.simpleContent() ?? this.mixedText(rule, pathOf(parent, rule, position)));
    if (attributes !== NO_ATTRIBUTES) {
      this.checkAttributes(pathOf(parent, rule, position), rule, attributes, scope, text);
    }
    const fault = rule.check(text);
    if (fault !== null) {
      this.faults.badValue(pathOf(parent, rule, position), rule, fault, text);
    } else if (rule.stricter !== null && !rule.stricter.test(trimBlanks(text))) {
      this.stricter.badValue(pathOf(parent, rule, position), rule, 'pattern', text);
    }
    return text === '' ? null : text;
  }

  /** The text of a leaf that holds more than plain text: comments, CDATA sections, or elements that must not be there. */
  private mixedText(rule: ElementRule, path: string): string {
    const { scanner } = this;
    let text = '';
    for (;;) {
      const event = scanner.next();
      if (event === 'text' || event === 'cdata') {
        text += scanner.characters;
      } else if (event === 'open') {
        this.faults.add(
          path,
          'type',
          `${rule.name} holds the element ${shorten(scanner.name)}; it must hold text only.`,
        );
        scanner.skipElement();
      } else {
        return text;
      }
    }
  }

  private checkAttributes(
    path: string,
    rule: ElementRule,
    attributes: Attributes,
    scope: NamespaceScope,
    text: string | null,
  ): void {
    if (attributes.length === 0) return;
    const fault = attributeFault(attributes, scope, rule, text);
    if (fault) this.faults.add(path, 'unknown', fault);
  }

  /** Whether the child is allowed here, after its preceding siblings. */
  private inSequence(child: ElementRule, path: string, progress: SequenceProgress): boolean {
    const misplaced = progress.take(child);
    if (misplaced === null) return true;
    if (misplaced === 'repeat') this.faults.tooMany(`${path}.${child.name}`, child);
    else {
      const message = `${child.name} is in the wrong place; move it before ${progress.currentName}.`;
      this.faults.add(`${path}.${child.name}`, 'order', message);
    }
    return false;
  }

  private unexpected(name: string, scope: NamespaceScope, rule: ElementRule, path: string): void {
    if (isSignature(name, scope)) {
      this.faults.add(
        `${path}.${name}`,
        'order',
        'Signature must be the last element of the root; sign the document anew.',
      );
      return;
    }
    this.faults.unknown(`${path}.${shorten(name)}`, name, rule, this.schema);
  }

  private missing(rule: ElementRule, path: string, progress: SequenceProgress): void {
    if (progress.requiredSeen === rule.requiredCount) return;
    for (const child of rule.children!) {
      if (child.required && !progress.seen[child.index]) this.faults.missing(`${path}.${child.name}`, child);
    }
  }
}

type Attributes = readonly [name: string, value: string][];

const NO_ATTRIBUTES: Attributes = [];
function isSignature(name: string, scope: NamespaceScope): boolean {
  const { namespace, local } = elementName(scope, name);
  return local === 'Signature' && namespace === XML_SIGNATURE;
}

function append(node: DocumentNode, name: string, value: DocumentValue): void {
  const list = node[name];
  if (Array.isArray(list)) list.push(value);
  else node[name] = [value];
}
