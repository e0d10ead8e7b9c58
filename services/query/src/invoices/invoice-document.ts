import type { TaxpayerState } from '@ecf/contracts';
import type { PrintRequest } from '@ecf/printed-form';
import type { AccountPorts } from '@ecf/taxpayer-replica';
import { requireTaxpayer } from '../account-taxpayers.js';
import { QueryError } from '../errors.js';
import type { FoundXml, XmlQuery } from './document-xml.js';
import type { LogoOf } from './logos.js';
import type { DocumentQuery } from './query-invoices.js';

/** What other forms of an issued document are made from: its stored XML, and its issuer. */
function createIssuedXml(ports: AccountPorts, documentXml: (query: XmlQuery) => Promise<FoundXml>) {
  return async ({ caller, ...key }: DocumentQuery): Promise<FoundXml & { issuer: TaxpayerState }> => {
    const issuer = await requireTaxpayer(ports, caller, key.issuerRnc);
    const issued = { buyerRnc: null, document: 'ecf', may: { issued: true, received: false }, sha256: null } as const;
    return { issuer, ...(await documentXml({ caller, ...key, ...issued })) };
  };
}

/** An issued document in the JSON shape that is submitted, read from its stored XML. */
export function createInvoiceDocument(
  ports: AccountPorts,
  documentXml: (query: XmlQuery) => Promise<FoundXml>,
  toJson: (xml: Uint8Array) => Promise<string>,
) {
  const issuedXml = createIssuedXml(ports, documentXml);
  return async (query: DocumentQuery): Promise<string> => toJson((await issuedXml(query)).bytes);
}

/** The printed form of an issued document, with the logo of its issuer. Throws `not_printable` if it was rejected or withdrawn. */
export function createInvoicePdf(
  ports: AccountPorts,
  documentXml: (query: XmlQuery) => Promise<FoundXml>,
  logoOf: LogoOf,
  print: (request: PrintRequest) => Promise<Buffer>,
) {
  const issuedXml = createIssuedXml(ports, documentXml);
  return async ({
    format,
    signal,
    ...query
  }: DocumentQuery & Pick<PrintRequest, 'format' | 'signal'>): Promise<Buffer> => {
    const { bytes, invoice, issuer } = await issuedXml(query);
    if (invoice?.status === 'Rechazado')
      throw new QueryError('not_printable', `${query.encf} was rejected or withdrawn, so it has no printed form.`);
    const logo = await logoOf(issuer);
    const contingency = invoice?.contingency ?? false;
    return print({ xml: bytes, env: query.env, format, contingency, logo, owner: query.caller.accountId, signal });
  };
}
