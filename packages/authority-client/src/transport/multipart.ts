/** The one file of an upload, part name `xml` (contract sections 2.2, 3, 5, 9, 10, 17). */
export interface FilePart {
  filename: string;
  content: string | Uint8Array;
}

interface MultipartBody {
  contentType: string;
  /** The whole body, so that Content-Length is known: the authority refuses chunked uploads. */
  body: Buffer;
}

const BOUNDARY = 'ecf-9d41b7c2f05e4a7c8e3d6b1f40a2c95e7d18b36f';

/**
 * One `multipart/form-data` body with one file part `xml` of type `text/xml`. Equal documents make equal bodies.
 */
export function multipartBody(part: FilePart): MultipartBody {
  const content = bytesOf(part.content);
  let boundary = BOUNDARY;
  for (let n = 1; content.includes(boundary); n += 1) boundary = `${BOUNDARY}${n}`;
  const filename = part.filename.replace(/[^A-Za-z0-9._-]/g, '_');
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="xml"; filename="${filename}"\r\nContent-Type: text/xml\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(head, 'ascii'), content, Buffer.from(`\r\n--${boundary}--\r\n`, 'ascii')]),
  };
}

function bytesOf(content: string | Uint8Array): Buffer {
  if (typeof content === 'string') return Buffer.from(content, 'utf8');
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

/** File name of e-CF and RFCE (issuer's RNC) and of ACECF (buyer's RNC): RNC and eNCF, contract section 12. */
export function documentFileName(rnc: string, encf: string): string {
  return `${rnc}${encf}.xml`;
}
