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

/** Tag or text of canonical XML, where attribute values stand in double quotes and `<` only opens markup. */
const PIECE = /<\?[^>]*\?>|<(\/?)([^\s>]+)((?:"[^"]*"|[^">])*)>|([^<]+)/g;

/**
 * The element tree of canonical XML as plain values: an element with children becomes an object, repeated ones an
 * array, `nil` becomes null. Namespace prefixes and attributes are dropped.
 */
export function valueOfCanonicalXml(canonical: string): XmlRoot {
  const stack: Open[] = [{ name: '', nil: false, text: '', fields: null }];
  for (const [, slash, name, attributes, text] of canonical.matchAll(PIECE)) {
    const top = stack[stack.length - 1]!;
    if (text !== undefined) {
      top.text += decodeEntities(text);
    } else if (name !== undefined && slash === '/') {
      stack.pop();
      addField(stack[stack.length - 1]!, top.name, contentOf(top));
    } else if (name !== undefined) {
      const local = name.slice(name.indexOf(':') + 1);
      stack.push({ name: local, nil: /[\s:]nil="(?:true|1)"/.test(attributes ?? ''), text: '', fields: null });
    }
  }
  const [name, content] = Object.entries(stack[0]!.fields ?? {})[0] ?? ['', null];
  return { name, content };
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

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#xD': '\r' };

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#xD);/g, (_, name: string) => ENTITIES[name]!);
}
