import { z } from 'zod';
import { freeTextSchema, named, timestampSchema } from '../../values.js';
import { type AdminOperation, operations } from '../operation.js';

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** `object.verb`, as `api_key.create`. */
const actionSchema = z.string().regex(/^[a-z_]+\.[a-z_]+$/);

/** An act before it is part of the chain. */
const auditActSchema = z.object({
  at: timestampSchema,
  actor: z
    .string()
    .min(1)
    .describe('Name of the administrator, ADMIN_TOKEN, `api_key:<id>`, `sender:<network>` or `service:<name>`'),
  action: actionSchema.describe('What was done: object and verb, as api_key.create'),
  target: z.string().regex(/^\//).describe('The object: its path below /admin'),
  details: z.record(z.string(), z.unknown()).describe('What was changed; never a secret'),
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

/** The act of a person; null if no person acted. `at` is ISO 8601 with offset. */
export function actOf(
  by: ActedBy | undefined,
  act: Pick<AuditAct, 'action' | 'target' | 'details'>,
  at: string,
): ReportedAct | null {
  return by === undefined ? null : { at, ...by, ...act };
}

/** An entry of the audit log. `hash` covers the other fields and, by `previous_hash`, all entries before it. */
export const auditEntrySchema = named('AuditEntry', {
  seq: z.int().positive().describe('The number of the entry, counted from 1'),
  ...auditActSchema.shape,
  previous_hash: sha256Schema.describe('The hash of the entry before this one'),
  hash: sha256Schema.describe('SHA-256 of the entry, the previous hash included'),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** In the order of the query; `next` is the `after` of the next page, null at the end. */
const auditPageSchema = named('AuditPage', {
  entries: z.array(auditEntrySchema).describe('The entries of this page'),
  next: z.int().nullable(),
});

/** The query of `GET /admin/audit`. */
export const auditQuerySchema = z.object({
  order: z.enum(['asc', 'desc']).default('asc').describe('`asc`: oldest first; `desc`: newest first.'),
  after: z.coerce
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Only entries that follow this `seq` in the order of the response: `next` of the page before.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(200).describe('Maximum number of rows in the response.'),
  actor: freeTextSchema.optional().describe('Only acts of this actor.'),
  action: freeTextSchema.optional().describe('Only this action.'),
  target: freeTextSchema
    .optional()
    .describe('Only acts on this object, or on one below it. It is the path below /admin.'),
});
export type AuditFilter = z.infer<typeof auditQuerySchema>;

export const AUDIT = operations<AdminOperation>('Audit', {
  listAudit: {
    route: 'GET /admin/audit',
    role: 'viewer',
    summary: 'Lists what was done, oldest or newest first',
    description:
      'Each entry has `hash`: SHA-256 of `previous_hash` and the canonical JSON (RFC 8785) of the entry without `hash`, so a changed, missing or repeated entry is detected. With `Accept: application/x-ndjson` the response has all entries, one per line, without `limit`; that export needs the role `owner`.',
    query: auditQuerySchema.shape,
    response: {
      'application/json': auditPageSchema,
      'application/x-ndjson': z.string().describe('One entry per line.'),
    },
    errors: ['validation_error'],
  },
});
