import { createHash } from 'node:crypto';
import { readBody } from '@ecf/http';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker, startBoundedWorkers, TaskTooCostly } from '@ecf/kit/worker-threads';
import { MOST_LOGO_BYTES } from '@ecf/logo';
import type { Request } from 'express';
import type { CheckedLogo } from './logo-check.worker.js';
import type { StoredLogo } from './ports.js';

/** Decodes a picture once, in a thread. Owners take turns. */
export type CheckLogo = (bytes: Uint8Array, owner: string) => Promise<CheckedLogo>;

const TYPES = { 'image/png': 'png', 'image/jpeg': 'jpg' } as const;

/**
 * Reads the logo in the body of a request. Another content type than PNG or JPEG is 415, more than 1 MiB 413, a body that is not
 * such a picture or cannot be printed 422 with the reason.
 */
export async function readUploadedLogo(req: Request, owner: string, check: CheckLogo): Promise<StoredLogo> {
  const contentType = (req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (contentType !== 'image/png' && contentType !== 'image/jpeg')
    throw new ApiError(
      415,
      'unsupported_media_type',
      'Send the picture itself with the content type image/png or image/jpeg.',
    );
  const bytes = await readBody(req, { maxBytes: MOST_LOGO_BYTES });
  const checked = await check(bytes, owner);
  if ('code' in checked) throw refused(checked.message, checked.code);
  if (checked.type !== TYPES[contentType])
    throw refused(
      `The body is a ${checked.type === 'png' ? 'PNG' : 'JPEG'}; send it with its own content type.`,
      'wrong_type',
    );
  const { width, height } = checked;
  return { bytes, contentType, width, height, sha256: createHash('sha256').update(bytes).digest('hex') };
}

function refused(msg: string, type: string): InvalidRequest {
  return new InvalidRequest([{ loc: ['body'], msg, type }]);
}

/** The largest picture takes a second. */
const TIMEOUT_MS = 15_000;
const MAX_WAITING = 64;

/** Checks logos in a thread, because decoding one takes up to a second. */
export function createLogoChecks(watchQueue: WatchQueue): { check: CheckLogo; close(): Promise<void> } {
  const worker = compiledWorker(import.meta, 'logo-check.worker');
  const limits = { maxThreads: 1, timeoutMs: TIMEOUT_MS, maxWaiting: MAX_WAITING };
  const workers = startBoundedWorkers({ worker, ...limits, queue: 'logos', watchQueue });
  return {
    check: (bytes, owner) =>
      workers.run<CheckedLogo>(bytes, { owner }).catch((error: unknown) => {
        if (!(error instanceof TaskTooCostly)) throw error;
        const message = `The picture takes too much ${error.what} to decode; save it again as a plain PNG or JPEG.`;
        return { code: 'too_costly', message };
      }),
    close: workers.close,
  };
}
