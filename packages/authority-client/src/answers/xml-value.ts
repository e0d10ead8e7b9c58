import { XmlScanner } from '@ecf/ecf-xml';
import type { AnswerFields, AnswerValue } from './answer-value.js';

export interface XmlRoot {
  name: string;
  content: AnswerValue;
}

interface Open {
  name: string;
  nil: boolean;
  text: string;
  fields: AnswerFields | null;
}

/**
 * The element tree of canonical XML as plain values: an element with children becomes an object, repeated ones an
 * array, `nil` becomes null. Namespace prefixes and attributes are dropped.
 */
export function valueOfCanonicalXml(canonical: string): XmlRoot {
  const stack: Open[] = [{ name: '', nil: false, text: '', fields: null }];
  const scanner = new XmlScanner(canonical);
  for (let event = scanner.next(); event !== 'end'; event = scanner.next()) {
    const top = stack[stack.length - 1]!;
    if (event === 'open') {
      stack.push({ name: localName(scanner.name), nil: scanner.attributes().some(isNil), text: '', fields: null });
    } else if (event === 'close') {
      stack.pop();
      addField(stack[stack.length - 1]!, top.name, contentOf(top));
    } else {
      top.text += scanner.characters;
    }
  }
  const [name, content] = Object.entries(stack[0]!.fields ?? {})[0] ?? ['', null];
  return { name, content };
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function isNil([name, value]: [string, string]): boolean {
  return localName(name) === 'nil' && (value === 'true' || value === '1');
}

function contentOf(element: Open): AnswerValue {
  if (element.fields) return element.fields;
  return element.nil ? null : element.text;
}

function addField(parent: Open, name: string, content: AnswerValue): void {
  parent.fields ??= Object.create(null) as AnswerFields;
  const present = parent.fields[name];
  if (present === undefined) parent.fields[name] = content;
  else if (Array.isArray(present)) present.push(content);
  else parent.fields[name] = [present, content];
}
