import { inputDocument, parseXml } from '@ecf/ecf-xml';

/** {@link documentJson}, wherever it runs. */
export type ToJson = (xml: Uint8Array) => Promise<string>;

/** The text in JSON, as it is submitted, of a stored document. */
export function documentJson(xml: Uint8Array): string {
  return JSON.stringify(inputDocument(parseXml(xml)));
}
