import { z } from 'zod';
import { storedFileSchema, storedFilesPageSchema, storedFilesQuerySchema } from '../api/admin/deployment.js';
import type { InternalHandlers } from './internal.js';

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
