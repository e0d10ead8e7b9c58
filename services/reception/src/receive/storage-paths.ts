import { type Environment, toCalendarDate } from '@ecf/domain';
import { refusalFolder } from '@ecf/public-ingress/stored-bytes-quota';

/** The parts of a path in the XML store. `holderRnc` is our taxpayer in whose name the document is kept. */
export interface StoredDocumentName {
  readonly env: Environment;
  readonly holderRnc: string;
  readonly issuerRnc: string;
  readonly buyerRnc: string;
  readonly encf: string;
  readonly at: Date;
  /** SHA-256 of the bytes in lower-case hex. */
  readonly sha256: string;
  /** Whether it belongs to an answer with Estado 1: anybody can cause as many of those as the rate limits let through. */
  readonly refused: boolean;
}

/**
 * Path of a received e-CF: the file name is issuer RNC and eNCF, as the authority names e-CF, then the whole checksum.
 * A sender chooses the bytes, so it could make two documents that share a part of the checksum.
 */
export function receivedDocumentPath(name: StoredDocumentName): string {
  return `${name.env}/ecf/${name.holderRnc}/received/${folder(name)}/${name.issuerRnc}${name.encf}-${name.sha256}.xml`;
}

/** Path of an acknowledgement that we issued: the file name is buyer RNC and eNCF, as the authority names ARECF. */
export function acknowledgementPath(name: StoredDocumentName): string {
  return `${name.env}/arecf/${name.holderRnc}/issued/${folder(name)}/${name.buyerRnc}${name.encf}-${name.sha256}.xml`;
}

/** The month; refusals have their own folders. */
function folder({ at, sha256, refused }: StoredDocumentName): string {
  return refused ? refusalFolder(at, sha256) : toCalendarDate(at).slice(0, 7).replace('-', '/');
}
