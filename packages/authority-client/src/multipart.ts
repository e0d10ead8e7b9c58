import { createHash } from 'node:crypto';

/** The one file of an upload, part name `xml` (contract sections 2.2, 3, 5, 9, 10, 17). */
export interface FilePart {
  filename: string;
  content: string | Uint8Array;
}

export interface MultipartBody {
  contentType: string;
  /** The whole body, so that Content-Length is known: the authority refuses chunked uploads. */
  body: Buffer;
}

/**
 * One `multipart/form-data` body with one file part `xml` of type `text/xml`.
 * The boundary comes from the content's digest, so equal documents make equal bodies.
 */
export function multipartBody(part: FilePart): MultipartBody {
  const content = typeof part.content === 'string' ? Buffer.from(part.content, 'utf8') : Buffer.from(part.content);
  const boundary = `ecf-${createHash('sha256').update(content).digest('hex').slice(0, 40)}`;
  const filename = part.filename.replace(/[^A-Za-z0-9._-]/g, '_');
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="xml"; filename="${filename}"\r\nContent-Type: text/xml\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head, 'ascii'), content, Buffer.from(`\r\n--${boundary}--\r\n`, 'ascii')]),
  };
}

/** File name of e-CF and RFCE (issuer's RNC) and of ACECF (buyer's RNC): RNC and eNCF, contract section 12. */
export function documentFileName(rnc: string, encf: string): string {
  return `${rnc}${encf}.xml`;
}
