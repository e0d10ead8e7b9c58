import { type AuditFilter, auditQuerySchema } from '@ecf/contracts';
import { validate, writeChunk } from '@ecf/http';
import express, { type Request, type Response } from 'express';
import type { KeyUses } from '../access/ports.js';
import { requireRole } from '../administrators/sign-in.js';
import { callOf } from '../edge/edge.http.js';
import { otherMethods } from '../edge/other-methods.js';
import type { AuditLog } from './ports.js';

const NDJSON = 'application/x-ndjson';
const ROWS_AT_ONCE = 1_000;

/** `GET /admin/audit`: a page of the audit log, or all of it as NDJSON. */
export function auditRoutes({
  audit,
  activity,
}: {
  audit: Pick<AuditLog, 'page'>;
  activity: Pick<KeyUses, 'flush'>;
}): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route('/audit')
    .get(async (req: Request, res: Response) => {
      const filter = validate(auditQuerySchema, req.query, 'query');
      await activity.flush();
      if (req.accepts(['application/json', NDJSON]) === NDJSON) {
        const { administrator } = callOf(res);
        if (administrator !== undefined) requireRole(administrator, { id: 'exportAudit', role: 'owner' });
        return writeAll(audit, filter, res);
      }
      const entries = await audit.page(filter);
      res.json({ entries, next: entries.length < filter.limit ? null : (entries.at(-1)?.seq ?? null) });
    })
    .all(otherMethods('GET'));
  return routes;
}

/** Writes the entries, one per line; an entry that is appended meanwhile may be among them. */
async function writeAll(audit: Pick<AuditLog, 'page'>, filter: AuditFilter, res: Response): Promise<void> {
  let { after } = filter;
  for (;;) {
    const entries = await audit.page({ ...filter, after, limit: ROWS_AT_ONCE });
    res.type(NDJSON);
    await writeChunk(res, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    if (res.destroyed || entries.length < ROWS_AT_ONCE) break;
    after = entries.at(-1)?.seq ?? after;
  }
  res.end();
}
