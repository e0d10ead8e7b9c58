import { parseXml } from '@ecf/ecf-xml';
import type { AnswerValue } from './answer-value.js';
import { valueOfCanonicalXml } from './xml-value.js';

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
