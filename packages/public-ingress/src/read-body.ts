import type { IncomingMessage } from 'node:http';
import { ApiError } from '@ecf/service-kit/errors';
import { tooManyTinyChunks } from '@ecf/service-kit/http';
import { takeXmlPart } from './xml-part.js';

export interface BodyLimits {
  /** Longest body in bytes. */
  readonly maxBytes: number;
  /** Time for the whole body. */
  readonly timeoutMs: number;
}

/** Reads a request and takes the XML document out of its body. Rejects with ApiError or XmlPartError. */
export async function readXmlDocument(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return takeXmlPart(await readBody(req, limits), req.headers['content-type']);
}

/** Reads the whole body. Rejects with the ApiError to answer; the rest of the body is dropped then. */
export async function readBody(req: IncomingMessage, { maxBytes, timeoutMs }: BodyLimits): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ApiError(415, 'unsupported_media_type', 'Send the body without content encoding.');
  }
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (req.destroyed && !req.readableEnded) throw lost();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = () => {
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('aborted', onLost).off('close', onLost).off('error', onLost);
    };
    const refuse = (error: ApiError) => {
      stop();
      // The rest is dropped as it arrives, so that the sender can read the answer.
      req.resume();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length > maxBytes) return refuse(tooLarge(maxBytes));
      const tiny = tooManyTinyChunks(chunks.length, length);
      if (tiny !== null) refuse(tiny);
    };
    const onEnd = () => {
      stop();
      resolve(Buffer.concat(chunks));
    };
    const onLost = () => {
      stop();
      reject(lost());
    };
    const timer = setTimeout(() => refuse(tooSlow()), timeoutMs);
    req.on('data', onData).on('end', onEnd).on('aborted', onLost).on('close', onLost).on('error', onLost);
  });
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError(413, 'body_too_large', `The body is larger than ${maxBytes} bytes.`);
}

function tooSlow(): ApiError {
  const headers = { connection: 'close' };
  return new ApiError(408, 'request_timeout', 'The body did not arrive in time; send it again.', { headers });
}

function lost(): ApiError {
  return new ApiError(400, 'bad_request', 'The connection was lost before the body was complete.');
}
