import { multipartBoundary, multipartType, RequestParameters, readBody, requestOf } from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { Request, Response } from 'express';
import multer from 'multer';
import type { UploadedCertificate } from '../credentials/certificates.js';

/** The body of `/fe_Submit`. */
export interface SubmissionForm {
  /** The invoice JSON. */
  readonly data: Buffer;
  /** Null if the stored certificate signs. */
  readonly certificate: UploadedCertificate | null;
}

const MAX_PARTS = 20;
/** The parser reads no more of the headers of a part. */
const MAX_PART_HEADERS = 16 * 1024;

/**
 * Reads the body of `/fe_Submit`: the invoice JSON itself, or a form with the part `data` once, as field or file, and
 * optionally `certificate` and `password`. 415 for another content type, 400 for a broken body, 422 for missing or repeated
 * parts.
 */
export async function readSubmissionForm(req: Request, res: Response): Promise<SubmissionForm> {
  const contentType = req.headers['content-type'];
  if (isJson(contentType)) {
    requireUtf8(contentType);
    return { data: await readBody(req), certificate: null };
  }
  const boundary = multipartBoundary(
    contentType,
    'the invoice JSON in the part data, or the invoice as application/json',
  );
  const body = await readBody(req);
  refuseOtherCharsets(body, boundary);
  const parts = await splitParts(req, res, body, boundary);
  const data = onePart(parts, 'data');
  if (data === null) throw invalid('data', 'the part data with the invoice JSON is required', 'missing');
  return { data, certificate: certificateOf(parts) };
}

/** The contents of the parts by their names. */
type Parts = ReadonlyMap<string, readonly Buffer[]>;

const upload = multer({
  storage: multer.memoryStorage(),
  // The size of the whole body is bounded before. A name such as `x[4294967294]` makes an array of that length.
  limits: { parts: MAX_PARTS, fieldSize: Number.POSITIVE_INFINITY, fieldArrayIndexLimit: MAX_PARTS },
}).any();

/** multer hides the charset that a part declares, and would convert its text. */
function refuseOtherCharsets(body: Buffer, boundary: string): void {
  const delimiter = `\r\n--${boundary}`;
  let at = body.subarray(0, delimiter.length).includes(delimiter.trim()) ? 0 : body.indexOf(delimiter);
  for (let parts = 0; at >= 0 && parts <= MAX_PARTS; parts++) {
    const start = body.toString('latin1', at + 2, at + MAX_PART_HEADERS);
    const [headers = ''] = start.split('\r\n\r\n', 1);
    for (const line of headers.replace(/\r\n[ \t]/g, ' ').split('\r\n')) {
      const charset = /^content-type\s*:/i.test(line) ? charsetOf(line) : null;
      if (charset && !UTF_8.includes(charset))
        throw notUtf8(`A part declares ${charset}; send UTF-8. The service does not convert text.`);
    }
    at = body.indexOf(delimiter, at + 2);
  }
}

async function splitParts({ headers }: Request, res: Response, body: Buffer, boundary: string): Promise<Parts> {
  const req = requestOf(body, { ...headers, 'content-type': multipartType(boundary) });
  await new Promise<void>((resolve, reject) => {
    upload(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(unreadable(error))));
  });
  const parts = new Map<string, Buffer[]>();
  const add = (name: string, content: Buffer) => parts.set(name, [...(parts.get(name) ?? []), content]);
  for (const [name, value] of Object.entries(req.body as Record<string, unknown>))
    for (const text of [value].flat()) if (typeof text === 'string') add(name, textBytes(name, text));
  for (const { fieldname, buffer } of req.files as Express.Multer.File[]) add(fieldname, buffer);
  return parts;
}

/** multer replaces bytes that are not UTF-8 by U+FFFD, so the original text is lost. */
function textBytes(name: string, text: string): Buffer {
  const at = text.indexOf('\ufffd');
  if (at < 0) return Buffer.from(text);
  const lines = text.slice(0, at).split('\n');
  const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
  throw notUtf8(`The part ${name} is not UTF-8, or holds the replacement character U+FFFD, at ${place}.`);
}

/** A form without a chosen file sends an empty part, which counts as absent. */
function certificateOf(parts: Parts): UploadedCertificate | null {
  const certificate = filled(onePart(parts, 'certificate'));
  const password = onePart(parts, 'password');
  if (certificate === null && filled(password) === null) return null;
  if (certificate === null)
    throw invalid('certificate', 'the certificate (.p12 or .pfx) of the password is missing', 'missing');
  if (password === null) throw invalid('password', 'the certificate needs its password', 'missing');
  return { p12: certificate, password: password.toString('utf8') };
}

function onePart(parts: Parts, name: string): Buffer | null {
  const found = parts.get(name) ?? [];
  if (found.length > 1) throw invalid(name, `the form has ${found.length} parts ${name}; send one`, 'repeated');
  return found[0] ?? null;
}

function filled(part: Buffer | null): Buffer | null {
  return part !== null && part.length > 0 ? part : null;
}

/** An idempotency-key: 1 to 255 printable characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** The parameters that single submissions and batches share. */
export class SubmissionParameters extends RequestParameters {
  /** `validate`: the documents are only checked. */
  validate(): boolean {
    return this.flag('validate', false);
  }

  /** `warnings`: whether a warning refuses a document; the default is that of the API key. */
  refusesWarnings(): boolean {
    const text = this.query('warnings');
    if (text === 'refuse' || text === 'accept') return text === 'refuse';
    if (text !== null) this.wrong(['query', 'warnings'], 'warnings is refuse or accept', 'enum');
    return identityOf(this.req).refuse_warnings === true;
  }
}

/** The header `x-contingency`: whether a document may be signed and wait while the authority is unreachable. */
export function readContingency(req: Request): boolean {
  const text = String(req.headers['x-contingency'] ?? 'false').toLowerCase();
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidRequest([{ loc: ['header', 'x-contingency'], msg: 'x-contingency is true or false', type: 'bool' }]);
}

function invalid(part: string, msg: string, type: string): InvalidRequest {
  return new InvalidRequest([{ loc: ['body', part], msg, type }]);
}

function notUtf8(message: string): ApiError {
  return new ApiError(400, 'not_utf8', message);
}

function unreadable(cause: unknown): ApiError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ApiError(400, 'bad_request', `The multipart body cannot be read: ${reason}.`, { cause });
}

/** Media type of a Content-Type header, in lower case, without parameters. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Refuses a content type other than JSON in UTF-8. */
export function requireJson(contentType: string | undefined): void {
  if (!isJson(contentType)) {
    throw new ApiError(415, 'unsupported_media_type', 'Send application/json.');
  }
  requireUtf8(contentType);
}

function isJson(contentType: string | undefined): boolean {
  const type = mediaType(contentType);
  return type === 'application/json' || /^application\/[a-z0-9.+-]+\+json$/.test(type);
}

/** Refuses a content type that declares another charset. */
export function requireUtf8(contentType: string | undefined): void {
  const charset = charsetOf(contentType ?? '');
  if (charset !== null && !UTF_8.includes(charset)) {
    throw new ApiError(415, 'unsupported_media_type', `Send JSON in UTF-8, not ${charset}.`);
  }
}

const UTF_8 = ['utf-8', 'utf8', 'us-ascii'];

/** The charset that a Content-Type names, in lower case; null if it names none. */
function charsetOf(contentType: string): string | null {
  return /;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1]?.toLowerCase() ?? null;
}
