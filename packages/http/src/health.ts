import type { XmlStore } from '@ecf/archive';
import { errorBody } from '@ecf/contracts';
import type { Queries } from '@ecf/postgres';
import express from 'express';
import { requestIdOf } from './request-id.js';

/** The dependencies of a service: `ok` or a short reason. `ready` is true if all required ones are ok. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, string>;
}

/**
 * Runs each check with a time limit; a check that throws or takes longer is not ok. `optional` names the checks that are
 * reported but do not decide.
 */
export async function checkReadiness(
  checks: Record<string, () => Promise<unknown>>,
  timeoutMs = 2_000,
  optional: readonly string[] = [],
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await verdict(check, timeoutMs)] as const),
  );
  return {
    ready: results.every(([name, words]) => words === 'ok' || optional.includes(name)),
    checks: Object.fromEntries(results),
  };
}

async function verdict(check: () => Promise<unknown>, timeoutMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${timeoutMs} ms`), timeoutMs);
  });
  try {
    return await Promise.race([check().then(() => 'ok'), late]);
  } catch (error) {
    return (error as { code?: string }).code ?? 'failed';
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The readiness of a service that stores documents. It works while the archive is unavailable, because the archiver stores the
 * documents later. So the archive is reported, but does not decide readiness.
 */
export function writerReadiness(
  { database, storageReady }: { readonly database: Queries; storageReady(): Promise<void> },
  archive: Pick<XmlStore, 'ready'>,
): Promise<Readiness> {
  const checks = {
    database: () => database.query('SELECT 1'),
    storage: storageReady,
    archive: () => archive.ready(),
  };
  return checkReadiness(checks, 2_000, ['archive']);
}

/**
 * The same check, run once for all callers during the check and for `keptMs` after its end.
 * @param now milliseconds of a clock that does not jump
 */
export function rememberReadiness(
  check: () => Promise<Readiness>,
  keptMs: number,
  now: () => number,
): () => Promise<Readiness> {
  let last: Promise<Readiness> | null = null;
  let endedAt = Number.POSITIVE_INFINITY;
  return () => {
    if (last !== null && now() - endedAt < keptMs) return last;
    endedAt = Number.POSITIVE_INFINITY;
    last = check().finally(() => {
      endedAt = now();
    });
    return last;
  };
}

/** `GET /health/live` (the process answers) and `GET /health/ready` (its dependencies do too, else 503). */
export function healthRoutes(ready: () => Promise<Readiness>): express.Router {
  const router = express.Router();
  router.get('/health/live', (_req, res) => {
    res.setHeader('cache-control', 'no-store');
    res.json({ status: 'ok' });
  });
  router.get('/health/ready', async (req, res) => {
    const { ready: isReady, checks } = await ready();
    res.setHeader('cache-control', 'no-store');
    if (isReady) {
      res.json({ status: 'ok', checks });
      return;
    }
    const failed = Object.entries(checks).flatMap(([name, state]) => (state === 'ok' ? [] : [`${name} (${state})`]));
    const detail = `Not ready: ${failed.join(', ')}. Repeat after Retry-After.`;
    const error = errorBody({ code: 'service_unavailable', detail }, requestIdOf(req));
    res
      .status(503)
      .setHeader('retry-after', '1')
      .json({ status: 'not_ready', checks, ...error });
  });
  return router;
}
