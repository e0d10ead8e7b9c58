import type { ServerResponse } from 'node:http';
import path from 'node:path';

/** The policy of pages that load files of this server only, with the exceptions that these pages need. */
export function policyOf(...exceptions: string[]): string {
  return [
    "default-src 'self'",
    ...exceptions,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Sets the headers of a built file: the policy, and how long browsers keep it. The names of assets have a hash of their content; every
 * other file is compared by its ETag.
 */
export function describeFile(policy: string): (res: Pick<ServerResponse, 'setHeader'>, file: string) => void {
  return (res, file) => {
    res.setHeader('content-security-policy', policy);
    const hashed = file.split(path.sep).includes('assets');
    res.setHeader('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  };
}
