import { z } from 'zod';
import { freeTextSchema, timestampSchema } from '../environment.js';

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
  target: z.string().startsWith('/'),
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
export const auditEntrySchema = z.object({
  seq: z.number().int().positive(),
  ...auditActSchema.shape,
  previous_hash: sha256Schema,
  hash: sha256Schema,
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** In the order of the query; `next` is the `after` of the next page, null at the end. */
export const auditPageSchema = z.object({
  entries: z.array(auditEntrySchema),
  next: z.number().int().nullable(),
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
