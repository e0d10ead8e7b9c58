import { ApiError } from '@ecf/kit';

/** RFC 2046 allows 70 characters; some senders use more. */
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"\\]{1,200})"|([^\s;"\\]{1,200}))\s*(?:;|$)/i;

/**
 * The boundary that a Content-Type names. Errors: 415 for another type than multipart/form-data, 400 for a boundary that is
 * missing, empty, not closed, longer than 200 characters or not printable ASCII.
 *
 * @param parts what to send, for the error: `the parts certificate and password`
 */
export function multipartBoundary(contentType: string | undefined, parts: string): string {
  const [type = ''] = (contentType ?? '').split(';', 1);
  if (type.trim().toLowerCase() !== 'multipart/form-data')
    throw new ApiError(415, 'unsupported_media_type', `Send multipart/form-data with ${parts}.`);
  const [, quoted, bare] = BOUNDARY.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? bare ?? '';
  if (/^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary)) return boundary;
  const detail =
    'The Content-Type names no boundary of 1 to 200 printable ASCII characters; let the HTTP client write this header.';
  throw new ApiError(400, 'bad_request', detail);
}

/** The Content-Type of a form with this boundary, in the form that every reader accepts. */
export function multipartType(boundary: string): string {
  return `multipart/form-data; boundary="${boundary}"`;
}
