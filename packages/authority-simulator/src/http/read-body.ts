import express, { type Request, type RequestHandler, type Response } from 'express';
import multer from 'multer';
import { type Answer, emptyAnswer, HTML_REFUSAL, sentenceAnswer, textAnswer, type Upload } from './call.js';

/** The default limit of the platform that the authority's services run on. */
const BODY_LIMIT = 30_000_000;

/** The bytes of a body of any type. */
export const rawBody: RequestHandler = express.raw({ type: () => true, limit: BODY_LIMIT, inflate: false });
const fileParts = multer({
  preservePath: true,
  defParamCharset: 'utf8',
  limits: { fileSize: BODY_LIMIT, fieldSize: BODY_LIMIT },
}).any();

export interface Body {
  readonly bytes: Buffer;
  readonly upload: Upload | Answer | null;
}

/**
 * Reads the whole body and the document in it. The authority's front end, not the service, refuses bodies that it cannot read:
 * with HTML, or with a sentence for a body of unknown length.
 *
 * @returns an answer for a body that is too large; null if the caller disconnected
 */
export async function readBody(request: Request, response: Response): Promise<Body | Answer | null> {
  const multipart = Boolean(request.is('multipart/form-data'));
  const error = await failureOf(multipart ? fileParts : rawBody, request, response);
  if (request.destroyed && !request.complete) return null;
  const code = error && ('type' in error ? error.type : 'code' in error ? error.code : '');
  if (code === 'entity.too.large' || code === 'LIMIT_FILE_SIZE' || code === 'LIMIT_FIELD_VALUE') {
    request.resume();
    return emptyAnswer(413, { Connection: 'close' });
  }
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  if (request.headers['content-length'] === undefined)
    return { bytes, upload: sentenceAnswer(400, 'Multipart cannot be empty') };
  if (!multipart) return { bytes, upload: textAnswer(415, '') };
  if (error) return { bytes, upload: HTML_REFUSAL };
  const files = request.files as Express.Multer.File[];
  const file = files.find(({ fieldname }) => fieldname.toLowerCase() === 'xml');
  return { bytes, upload: file ? { filename: file.originalname, bytes: file.buffer } : null };
}

/** Runs a middleware to its end; null: it succeeded. */
function failureOf(middleware: RequestHandler, request: Request, response: Response): Promise<Error | null> {
  return new Promise((resolve) => {
    middleware(request, response, (error?: unknown) => resolve((error as Error | undefined) ?? null));
  });
}
