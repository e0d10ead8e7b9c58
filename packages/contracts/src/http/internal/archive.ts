import { z } from 'zod';
import type { InternalHandlers } from './internal.js';

/** The services that keep XML. */
export const ARCHIVING_SERVICES = ['emission', 'reception', 'approvals'] as const;
export type ArchivingService = (typeof ARCHIVING_SERVICES)[number];

/** An XML document that a row of a service's database names. */
const storedFileSchema = z.object({
  path: z.string(),
  /** In lower-case hex. */
  sha256: z.string(),
  pending: z.boolean().meta({ description: 'Whether the document is still in the database, not yet in the archive' }),
});
export type StoredFile = z.infer<typeof storedFileSchema>;

export const storedFilesQuerySchema = z.object({
  /** Where to continue: `next` of the answer. */
  after: z
    .string()
    .regex(/^[a-z_]+(:\d{1,19}){1,3}$/, 'is the `next` of a page')
    .optional(),
  /** Most rows of the database; each may name several files, or none. */
  limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
});

export const storedFilesPageSchema = z.object({ files: z.array(storedFileSchema), next: z.string().nullable() });

/** The operations of each service that keeps XML. */
export const ARCHIVE_OPERATIONS = {
  /** All files, page by page; null as `next` at the end. */
  pageOfStoredFiles: {
    path: '/internal/archive/page',
    callers: ['gateway'],
    request: storedFilesQuerySchema,
    answer: storedFilesPageSchema,
  },
  /** The bytes of a document that is not in the archive yet; null if it does not wait for the archive. */
  pendingDocument: {
    path: '/internal/archive/pending',
    callers: ['approvals', 'query'],
    request: storedFileSchema.omit({ pending: true }),
    answer: z.object({ base64: z.base64().nullable() }),
  },
} as const;
export type ArchiveOperations = InternalHandlers<typeof ARCHIVE_OPERATIONS>;
