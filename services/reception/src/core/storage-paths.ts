import { type Environment, toCalendarDate } from '@ecf/domain';

/** What a path in the XML store is made of. `holderRnc` is the taxpayer of ours in whose name the document is kept. */
export interface StoredDocumentName {
  readonly env: Environment;
  readonly holderRnc: string;
  readonly issuerRnc: string;
  readonly buyerRnc: string;
  readonly encf: string;
  readonly at: Date;
  /** SHA-256 of the bytes in lower-case hex. */
  readonly sha256: string;
}

/**
 * Path of a received e-CF: the file name is issuer RNC and eNCF, as the authority names e-CF, then the whole checksum.
 * Strangers choose what comes under a number: a part of it could be made to fit two documents.
 */
export function receivedDocumentPath(name: StoredDocumentName): string {
  return `${name.env}/ecf/${name.holderRnc}/received/${month(name.at)}/${name.issuerRnc}${name.encf}-${name.sha256}.xml`;
}

/** Path of an acknowledgement that we issued: the file name is buyer RNC and eNCF, as the authority names ARECF. */
export function acknowledgementPath(name: StoredDocumentName): string {
  return `${name.env}/arecf/${name.holderRnc}/issued/${month(name.at)}/${name.buyerRnc}${name.encf}-${name.sha256}.xml`;
}

function month(at: Date): string {
  return toCalendarDate(at).slice(0, 7).replace('-', '/');
}
