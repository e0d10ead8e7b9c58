import { parseXml, XmlScanner } from '@ecf/ecf-xml';

/** An answer's content whatever its format: JSON numbers are kept as their digits, XML text as strings. */
export type AnswerValue = null | boolean | string | AnswerValue[] | AnswerFields;
export interface AnswerFields {
  [name: string]: AnswerValue;
}

/** A field whatever its casing (`eNCF`, `encf`, `Encf`); undefined if there is none. */
export function field(value: AnswerValue | undefined, name: string): AnswerValue | undefined {
  if (!isFields(value)) return undefined;
  const wanted = name.toLowerCase();
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === wanted);
  return key === undefined ? undefined : value[key];
}

/** A field's text, trimmed; null if it is absent, null, blank or no single value. */
export function textField(value: AnswerValue | undefined, name: string): string | null {
  return textOf(field(value, name));
}

export function textOf(value: AnswerValue | undefined): string | null {
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return null;
  // PostgreSQL takes no NUL in text.
  const text = value.replaceAll('\0', '').trim();
  return text === '' ? null : text;
}

export function booleanField(value: AnswerValue | undefined, name: string): boolean | null {
  const text = textField(value, name)?.toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

export function isFields(value: AnswerValue | undefined): value is AnswerFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The records of a list that may come as an array, as one single record, or wrapped in an element per level (XML). A value
 * with the field `mark` is a record. Undefined if the list has another value.
 */
export function records(value: AnswerValue | undefined, mark: string): AnswerFields[] | undefined {
  if (Array.isArray(value)) {
    const found = value.map((entry) => records(entry, mark));
    return found.every((entry) => entry !== undefined) ? found.flat() : undefined;
  }
  if (!isFields(value)) return undefined;
  if (field(value, mark) !== undefined) return [value];
  const wrapped = Object.values(value).filter((entry) => typeof entry === 'object' && entry !== null);
  const [only] = wrapped;
  return wrapped.length === 1 ? records(only, mark) : undefined;
}

/**
 * Reads JSON, or XML if XML came although JSON was requested. Undefined for anything else, HTML included.
 * The content type is not looked at: it is wrong too often.
 */
export function readAnswerValue(text: string): AnswerValue | undefined {
  const content = text.trim();
  if (content === '') return undefined;
  return content.startsWith('<') ? readXmlValue(content) : readJsonValue(content);
}

/** No answer of these services is deeper. A deeper one could exhaust the stack of its reader. */
const MAX_DEPTH = 32;

/** Of JSON that was parsed already, so each string ends. */
const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[[\]{}]/g;

/** Numbers become strings with the same digits: codes and amounts come as either, and no cent is lost to a float. */
function readJsonValue(content: string): AnswerValue | undefined {
  let depth = 0;
  let deepest = 0;
  try {
    JSON.parse(content);
    const quoted = content.replace(JSON_TOKEN, (token) => {
      if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
      else if (token === ']' || token === '}') depth -= 1;
      else if (!token.startsWith('"')) return `"${token}"`;
      return token;
    });
    return deepest > MAX_DEPTH ? undefined : (JSON.parse(quoted) as AnswerValue);
  } catch {
    return undefined;
  }
}

/** The element's content without the root's own name: `<Respuesta><codigo>1</codigo></Respuesta>` is `{codigo: '1'}`. */
function readXmlValue(content: string): AnswerValue | undefined {
  if (/^<(?:!doctype|html)/i.test(content)) return undefined;
  // The text is decoded already; .NET declares utf-16 in documents that it sends as UTF-8.
  const undeclared = content.replace(/^<\?xml[^>]*\?>/, '');
  try {
    return valueOfCanonicalXml(parseXml(Buffer.from(undeclared, 'utf8')).text).content;
  } catch {
    return undefined;
  }
}

interface XmlRoot {
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
function valueOfCanonicalXml(canonical: string): XmlRoot {
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
