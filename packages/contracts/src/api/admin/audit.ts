import { z } from 'zod';
import { freeTextSchema, named, timestampSchema } from '../../environment.js';
import { type AdminOperation, operations, optional } from '../operation.js';
import * as P from '../parameters.js';

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** `object.verb`, as `api_key.create`. */
const actionSchema = z.string().regex(/^[a-z_]+\.[a-z_]+$/);

/** An act before it is part of the chain. */
export const auditActSchema = z.object({
  at: timestampSchema,
  /** Name of the administrator, `ADMIN_TOKEN`, `api_key:<id>`, `sender:<network>` or `service:<name>`. */
  actor: z.string().min(1),
  action: actionSchema,
  /** Path of the object below `/admin`. */
  target: z.string().regex(/^\//),
  details: z.record(z.string(), z.unknown()),
  /** The request that caused it; null without one. */
  request_id: z.string().nullable(),
});
export type AuditAct = z.infer<typeof auditActSchema>;

/** An act as a service reports it. `proof` shows that the gateway passed a request of this actor to a service. */
export const reportedActSchema = auditActSchema.extend({ proof: z.string().optional() });
export type ReportedAct = z.infer<typeof reportedActSchema>;

/** The actor of an action, and its request. */
const actedBySchema = reportedActSchema.pick({ actor: true, request_id: true, proof: true });
export type ActedBy = z.infer<typeof actedBySchema>;

/** Added to requests of the administration to other services. Absent = no act of a person. */
export const actedSchema = z.object({ by: actedBySchema.optional() });

/** The act of a person; null if nobody acted. `at` is ISO 8601 with offset. */
export function actOf(
  by: ActedBy | undefined,
  act: Pick<AuditAct, 'action' | 'target' | 'details'>,
  at: string,
): ReportedAct | null {
  return by === undefined ? null : { at, ...by, ...act };
}

/** An entry of the audit log. `hash` covers the other fields and, by `previous_hash`, all entries before it. */
export const auditEntrySchema = named('AuditEntry', {
  seq: z.int().positive(),
  ...auditActSchema.shape,
  previous_hash: sha256Schema,
  hash: sha256Schema,
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** In the order of the query; `next` is the `after` of the next page, null at the end. */
export const auditPageSchema = named('AuditPage', {
  entries: z.array(auditEntrySchema),
  next: z.int().nullable(),
});

/** The query of `GET /admin/audit`. */
export const auditQuerySchema = z.object({
  /** The page begins with the entry that follows this `seq` in the order of the query; absent = with the first. */
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  order: z.enum(['asc', 'desc']).default('asc'),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
  actor: freeTextSchema.optional(),
  action: freeTextSchema.optional(),
  /** An object, and everything below it. */
  target: freeTextSchema.optional(),
});
export type AuditFilter = z.infer<typeof auditQuerySchema>;

export const AUDIT = operations<AdminOperation>('Audit', {
  listAudit: {
    route: 'GET /admin/audit',
    role: 'viewer',
    summary: 'Lists what was done, oldest or newest first',
    description:
      'Each entry has `hash`: SHA-256 of `previous_hash` and the canonical JSON (RFC 8785) of the entry without `hash`, so a changed, missing or repeated entry shows. With `Accept: application/x-ndjson` the answer is all entries, one a line, without `limit`; that export needs the role `owner`.',
    query: {
      order: z.enum(['asc', 'desc']).default('asc').describe('`asc`: oldest first; `desc`: newest first.'),
      after: optional(
        z.int().min(0),
        'Only entries that follow this `seq` in the order of the answer: `next` of the page before.',
        200,
      ),
      limit: P.limit,
      actor: optional(z.string(), 'Only acts of this actor.', 'Ana'),
      action: optional(z.string(), 'Only this action.', 'api_key.create'),
      target: optional(
        z.string(),
        'Only acts on this object, or on one below it. It is the path below /admin.',
        '/accounts/2c6d8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e',
      ),
    },
    response: {
      'application/json': auditPageSchema,
      'application/x-ndjson': z.string().describe('One entry a line.'),
    },
    errors: ['validation_error'],
  },
});
