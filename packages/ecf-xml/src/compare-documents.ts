import { type DocumentNode, type DocumentValue, withLineFeeds } from '@ecf/domain';
import { DOCUMENTS } from './catalogue/documents.js';
import { type ElementRule, schemaOf } from './catalogue/element-rules.js';
import { isBlankText } from './values/blanks.js';
import { canonicalDecimal, parseDecimalValue } from './values/decimal-value.js';
import { parseXml } from './xml/parse-xml.js';
import { readXml } from './xml/read-xml.js';

/** An element that two documents have with different values; null where a document lacks it. */
export interface Difference {
  /** As in faults, for example `ECF.DetallesItems.Item[2].MontoItem`; `ECF` or `RFCE` if the roots differ. */
  readonly path: string;
  readonly stored: string | null;
  readonly sent: string | null;
}

/** Elements that only say when a document was signed: the signing time, and in a summary the code of that signature. */
const OF_THE_SIGNATURE: ReadonlySet<string> = new Set(['ECF.FechaHoraFirma', 'RFCE.Encabezado.CodigoSeguridadeCF']);
const OMITTED = /<FechaHoraFirma>[^<]*<\/FechaHoraFirma>|<CodigoSeguridadeCF>[^<]*<\/CodigoSeguridadeCF>/g;
const LEAF = /<([A-Za-z0-9]+)>([^<]+)</g;

/**
 * A text that two e-CF, or two summaries, have in common exactly if they are the same document: without the elements that a new
 * signature changes, and with one text for each decimal value.
 *
 * @param canonical the document as `writeXml` writes it, unsigned
 */
export function comparableText(canonical: string): string {
  const names = decimalElements();
  return canonical
    .replace(OMITTED, '')
    .replace(LEAF, (leaf, name: string, text: string) => (names.has(name) ? `<${name}>${valueText(text)}<` : leaf));
}

/**
 * The elements by which a document that was sent differs from a stored one, in the order of the document. Elements that a new
 * signature changes do not count, and decimal numbers are compared by value.
 *
 * @param stored the XML of the stored document, signed or not
 * @param sent the XML of the other one, signed or not
 * @param ignored paths of further elements that do not count
 */
export function differences(stored: Uint8Array, sent: Uint8Array, ignored: readonly string[] = []): Difference[] {
  const [before, after] = [readXml(parseXml(stored)), readXml(parseXml(sent))];
  const [root = '', otherRoot = ''] = [Object.keys(after)[0], Object.keys(before)[0]];
  if (root !== otherRoot) return [{ path: root, stored: otherRoot, sent: root }];
  const [storedTexts, sentTexts] = [textsOf(before), textsOf(after)];
  const paths = new Set([...sentTexts.keys(), ...storedTexts.keys()]);
  for (const path of [...ignored, ...OF_THE_SIGNATURE]) paths.delete(path);
  return [...paths].flatMap((path) => {
    const [one, other] = [storedTexts.get(path) ?? null, sentTexts.get(path) ?? null];
    return isSame(path, one, other) ? [] : [{ path, stored: one, sent: other }];
  });
}

function isSame(path: string, one: string | null, other: string | null): boolean {
  if (one === other) return true;
  const name = path.slice(path.lastIndexOf('.') + 1);
  return one !== null && other !== null && decimalElements().has(name) && valueText(one) === valueText(other);
}

/** One text for each value of a decimal number; any other text as it is. */
export function valueText(text: string): string {
  const value = parseDecimalValue(text.trim(), false);
  return value === null ? text : canonicalDecimal(value);
}

/** The texts of a document by their paths. */
function textsOf(tree: DocumentNode): Map<string, string> {
  const texts = new Map<string, string>();
  const collect = (value: DocumentValue, path: string): void => {
    if (typeof value === 'string') {
      // Earlier versions signed carriage returns and blanks that input no longer has.
      if (!isBlankText(value)) texts.set(path, withLineFeeds(value));
    } else if (Array.isArray(value))
      for (const [index, entry] of value.entries()) collect(entry, `${path}[${index + 1}]`);
    else for (const [name, entry] of Object.entries(value)) collect(entry, path === '' ? name : `${path}.${name}`);
  };
  collect(tree, '');
  return texts;
}

let decimals: Set<string> | null = null;

/**
 * Elements of an e-CF or a summary whose text is a decimal number: by their type, or because JSON may state them as a number. No other
 * element has one of their names.
 */
export function decimalElements(): ReadonlySet<string> {
  if (decimals !== null) return decimals;
  const found = new Set<string>();
  const collect = (rule: ElementRule): void => {
    if (rule.type?.base === 'decimal' || rule.takesNumber) found.add(rule.name);
    for (const child of rule.children ?? []) collect(child);
  };
  for (const { id, root } of DOCUMENTS) if (root === 'ECF' || root === 'RFCE') collect(schemaOf(id).root);
  decimals = found;
  return found;
}
