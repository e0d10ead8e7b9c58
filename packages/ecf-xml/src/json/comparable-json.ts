import { withLineFeeds } from '@ecf/domain';
import { decimalElements, valueText } from '../compare-documents.js';
import { isBlankText } from '../values/blanks.js';
import { isNumber, isObject, leafText } from './json-values.js';

/**
 * A text that two parsed documents in JSON have in common exactly if they are the same document, whatever faults they have: without
 * FechaHoraFirma, without the order of keys and absent values, with line feeds for carriage returns and one text for each decimal
 * value. A number where only text is taken is not that text.
 *
 * @param document what `parseDocument` gave, which bounds its depth
 */
export function comparableJson(document: unknown): string {
  const decimals = decimalElements();

  function text(value: unknown, name: string): string {
    if (value === null || value === undefined) return '';
    if (Array.isArray(value)) {
      const present = value.map((each) => text(each, name)).filter((each) => each !== '');
      return present.length <= 1 ? (present[0] ?? '') : `[${present.join()}]`;
    }
    if (isObject(value)) {
      const present = Object.keys(value)
        .filter((key) => key !== 'FechaHoraFirma')
        .sort()
        .map((key) => [key, text(value[key], key)])
        .filter(([, content]) => content !== '');
      return present.length === 0
        ? ''
        : `{${present.map(([key, content]) => `${JSON.stringify(key)}:${content}`).join()}}`;
    }
    const leaf = leafText(value);
    if (leaf === null) return String(value);
    if (isBlankText(leaf)) return '';
    if (decimals.has(name)) return JSON.stringify(valueText(leaf));
    return isNumber(value) ? leaf : JSON.stringify(withLineFeeds(leaf));
  }

  return text(document, '');
}
