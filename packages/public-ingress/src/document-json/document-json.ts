import { inputDocument } from '@ecf/ecf-xml';
import { parseReceived } from '../signers/signed-document.js';

/** The text in JSON, as it is submitted, of a stored document. Also the task of the worker thread. */
export default function documentJson(xml: Uint8Array): string {
  return JSON.stringify(inputDocument(parseReceived(xml, xml.byteLength)));
}
