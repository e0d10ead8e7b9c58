import { ApiError, InvalidRequest } from '@ecf/service-kit/http';
import type { UploadedCertificate } from '../core/credentials/certificates.js';
import { MultipartRefused, type Part, parseHeaderValue, parseMultipart } from './multipart.js';

/** The parts of `/fe_Submit`. */
export interface SubmissionForm {
  readonly data: Buffer;
  readonly certificate: UploadedCertificate | null;
}

/**
 * Reads the form of `/fe_Submit`: `data` once, as field or file, with or without content type; optionally `certificate`
 * and `password`. 415 for another content type, 400 for a broken body, 422 for parts that are missing or repeated.
 */
export function readSubmissionForm(body: Buffer, contentType: string | undefined): SubmissionForm {
  const parts = split(body, contentType ?? '');
  const data = one(parts, 'data');
  if (data === null) throw invalid('data', 'the part data with the invoice JSON is required', 'missing');
  if (data.charset !== null && !['utf-8', 'utf8', 'us-ascii'].includes(data.charset)) {
    throw new ApiError(400, 'not_utf8', `The part data declares ${data.charset}; send UTF-8. Nothing is converted.`);
  }
  return { data: data.content, certificate: certificateOf(parts) };
}

function split(body: Buffer, contentType: string): Part[] {
  try {
    return parseMultipart(body, contentType);
  } catch (error) {
    if (!(error instanceof MultipartRefused)) throw error;
    if (error.code === 'not_multipart') {
      throw new ApiError(
        415,
        'unsupported_media_type',
        'Send multipart/form-data with the invoice JSON in the part data.',
        {
          cause: error,
        },
      );
    }
    throw new ApiError(400, 'bad_request', `The multipart body cannot be read: ${error.message}`, { cause: error });
  }
}

/** A form without a chosen file sends the part empty: that counts as absent. */
function certificateOf(parts: readonly Part[]): UploadedCertificate | null {
  const certificate = filled(one(parts, 'certificate'));
  const password = one(parts, 'password');
  if (certificate === null && filled(password) === null) return null;
  if (certificate === null)
    throw invalid('certificate', 'a password came without its certificate (.p12 or .pfx)', 'missing');
  if (password === null) throw invalid('password', 'the certificate needs its password', 'missing');
  return { p12: certificate.content, password: password.content.toString('utf8') };
}

function one(parts: readonly Part[], name: string): Part | null {
  const found = parts.filter((part) => part.name === name);
  if (found.length > 1) throw invalid(name, `the part ${name} came ${found.length} times; send it once`, 'repeated');
  return found[0] ?? null;
}

function filled(part: Part | null): Part | null {
  return part !== null && part.content.length > 0 ? part : null;
}

function invalid(part: string, msg: string, type: string): InvalidRequest {
  return new InvalidRequest([{ loc: ['body', part], msg, type }]);
}

/** Refuses what is not JSON by its content type. */
export function requireJson(contentType: string | undefined): void {
  const { value, parameters } = parseHeaderValue(contentType ?? '');
  if (value !== 'application/json' && !/^application\/[a-z0-9.+-]+\+json$/.test(value)) {
    throw new ApiError(415, 'unsupported_media_type', 'Send application/json.');
  }
  const charset = parameters.get('charset')?.toLowerCase() ?? 'utf-8';
  if (!['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
    throw new ApiError(415, 'unsupported_media_type', `Send JSON in UTF-8, not ${charset}.`);
  }
}
