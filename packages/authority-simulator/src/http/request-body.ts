import type { IncomingMessage } from 'node:http';

/** The default limit of the platform that the authority's services run on. */
const BODY_LIMIT = 30_000_000;

/** Reads a whole body, or says why there is none: it is too large, or the caller went away. */
export function readBody(request: IncomingMessage, limit = BODY_LIMIT): Promise<Buffer | 'too_large' | 'gone'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) {
        chunks.push(chunk);
      } else {
        chunks.length = 0;
        resolve('too_large');
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)));
    request.on('error', () => resolve('gone'));
    request.on('close', () => resolve('gone'));
  });
}
