import type { DocumentNode, DocumentValue } from '@ecf/domain';
import type { XmlScanner } from './scanner.js';

/** The content of the element just opened, without any schema: text, or a group whose repeated elements are lists. */
export function genericContent(scanner: XmlScanner): DocumentValue {
  if (scanner.selfClosing) return '';
  const group: Map<string, DocumentValue> = new Map();
  let text = '';
  for (;;) {
    const event = scanner.next();
    if (event === 'text' || event === 'cdata') {
      text += scanner.characters;
    } else if (event === 'open') {
      const { name } = scanner;
      const value = genericContent(scanner);
      const present = group.get(name);
      if (present === undefined) group.set(name, value);
      else if (Array.isArray(present)) present.push(value);
      else group.set(name, [present, value]);
    } else {
      return group.size === 0 ? text : (Object.fromEntries(group) as DocumentNode);
    }
  }
}
