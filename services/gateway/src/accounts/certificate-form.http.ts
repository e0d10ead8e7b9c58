import { multipartBoundary, multipartType, readBody, requestOf } from '@ecf/http';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { Request, RequestHandler } from 'express';
import multer from 'multer';

const upload = multer({
  storage: multer.memoryStorage(),
  // A name such as `x[4294967294]` makes an array of that length.
  limits: { fileSize: 1_048_576, files: 1, fields: 4, parts: 6, fieldSize: 4_096, fieldArrayIndexLimit: 6 },
});

/** The largest certificate, with the password and the lines around them. */
const MAX_FORM_BYTES = 2 * 1_048_576;

const readParts = upload.single('certificate');

/** Reads the parts `certificate` and `password`; another content type than multipart is 415, a malformed body 400. */
export const certificateParts: RequestHandler = async (req, res, next) => {
  const boundary = multipartBoundary(req.headers['content-type'], 'the parts certificate and password');
  const body = await readBody(req, { maxBytes: MAX_FORM_BYTES });
  const form = requestOf(body, { ...req.headers, 'content-type': multipartType(boundary) });
  readParts(form, res, (error?: unknown) => {
    Object.assign(req, { body: form.body, file: form.file });
    if (error === undefined || error instanceof multer.MulterError || error instanceof ApiError) return next(error);
    next(
      new ApiError(400, 'bad_request', `The multipart body cannot be read: ${(error as Error).message}.`, {
        cause: error,
      }),
    );
  });
};

/** The two parts; either missing is 422. */
export function uploaded(req: Request): { file: Uint8Array; password: string } {
  const password: unknown = req.body?.password;
  const missing = [
    ...(req.file === undefined ? ['certificate'] : []),
    ...(typeof password === 'string' ? [] : ['password']),
  ];
  if (req.file === undefined || typeof password !== 'string')
    throw new InvalidRequest(
      missing.map((name) => ({ loc: ['body', name], msg: 'This part is required, once.', type: 'missing' })),
    );
  return { file: req.file.buffer, password };
}
