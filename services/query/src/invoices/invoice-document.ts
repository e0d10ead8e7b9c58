import type { AccountPorts } from '@ecf/taxpayer-replica';
import { requireTaxpayer } from '../account-taxpayers.js';
import type { FoundXml, XmlQuery } from './document-xml.js';
import type { DocumentQuery } from './query-invoices.js';

/** An issued document in the JSON shape that is submitted, read from its stored XML. */
export function createInvoiceDocument(
  ports: AccountPorts,
  documentXml: (query: XmlQuery) => Promise<FoundXml>,
  toJson: (xml: Uint8Array) => Promise<string>,
) {
  return async ({ caller, ...key }: DocumentQuery): Promise<string> => {
    await requireTaxpayer(ports, caller, key.issuerRnc);
    const issued = { buyerRnc: null, document: 'ecf', may: { issued: true, received: false }, sha256: null } as const;
    const { bytes } = await documentXml({ caller, ...key, ...issued });
    return toJson(bytes);
  };
}
