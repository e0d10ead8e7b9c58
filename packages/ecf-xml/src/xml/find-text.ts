import { XmlScanner } from './scanner.js';

/** The text of the first element on the path from the root, both ends included, or null when there is none. */
export function findText(source: string, path: readonly string[]): string | null {
  const scanner = new XmlScanner(source);
  let depth = 0;
  let onPath = 0;
  for (;;) {
    const event = scanner.next();
    if (event === 'end') return null;
    if (event === 'close') {
      depth--;
      onPath = Math.min(onPath, depth);
    }
    if (event !== 'open') continue;
    const found = onPath === depth && scanner.name === path[depth];
    if (found && depth === path.length - 1) return scanner.selfClosing ? '' : textOfElement(scanner);
    if (scanner.selfClosing) continue;
    depth++;
    if (found) onPath++;
  }
}

/** The characters directly inside the element just opened, up to its end tag. */
function textOfElement(scanner: XmlScanner): string {
  let text = '';
  for (;;) {
    const event = scanner.next();
    if (event === 'text' || event === 'cdata') text += scanner.characters;
    else if (event === 'open') scanner.skipElement();
    else return text;
  }
}
