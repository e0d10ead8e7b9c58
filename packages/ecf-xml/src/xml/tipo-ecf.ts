import { XmlScanner } from './scanner.js';

const PATH = ['ECF', 'Encabezado', 'IdDoc', 'TipoeCF'];

/** The text of the first ECF/Encabezado/IdDoc/TipoeCF of a document, or null when there is none. */
export function findTipoEcf(source: string): string | null {
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
    const found = onPath === depth && scanner.name === PATH[depth];
    if (found && depth === PATH.length - 1) return scanner.selfClosing ? '' : textOfElement(scanner);
    if (scanner.selfClosing) continue;
    depth++;
    if (found) onPath++;
  }
}

/** The characters directly inside the element just opened, up to its end tag. */
export function textOfElement(scanner: XmlScanner): string {
  let text = '';
  for (;;) {
    const event = scanner.next();
    if (event === 'text' || event === 'cdata') text += scanner.characters;
    else if (event === 'open') scanner.skipElement();
    else return text;
  }
}
