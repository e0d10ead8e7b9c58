import express from 'express';

/** What a service depends on, each `ok` or a few words on what is wrong. `ready` is true when those it cannot do without are. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, string>;
}

/**
 * Runs each check with a time limit; a check that throws or takes longer is not ok. `optional` names those that are told
 * but do not decide.
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
 * The same check, made once for all who ask while it is under way and for `keptMs` after its end.
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
  router.get('/health/ready', async (_req, res) => {
    const readiness = await ready();
    res.setHeader('cache-control', 'no-store');
    if (!readiness.ready) res.setHeader('retry-after', '1');
    res
      .status(readiness.ready ? 200 : 503)
      .json({ status: readiness.ready ? 'ok' : 'not_ready', checks: readiness.checks });
  });
  return router;
}
