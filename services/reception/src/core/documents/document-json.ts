import { inputDocument } from '@ecf/ecf-xml';
import { parseReceived } from '@ecf/public-ingress/signed-document';

/** {@link documentJson}, wherever it runs. */
export type ToJson = (xml: Uint8Array) => Promise<string>;

/** The text in JSON, as it is submitted, of a received document. */
export function documentJson(xml: Uint8Array): string {
  return JSON.stringify(inputDocument(parseReceived(xml, xml.byteLength)));
}
