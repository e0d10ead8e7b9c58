import { z } from 'zod';
import { storedFileSchema, storedFilesPageSchema, storedFilesQuerySchema } from '../api/admin/deployment.js';
import { type InternalHandlers, internalOperation } from './internal.js';

/** The operations of each service that keeps XML. */
export const ARCHIVE_OPERATIONS = {
  /** All files, page by page; null as `next` at the end. */
  pageOfStoredFiles: internalOperation(
    '/internal/archive/page',
    ['gateway'],
    storedFilesQuerySchema,
    storedFilesPageSchema,
  ),
  /** The bytes of a document that is not in the archive yet; null if it does not wait for the archive. */
  pendingDocument: internalOperation(
    '/internal/archive/pending',
    ['approvals', 'query'],
    storedFileSchema.omit({ pending: true }),
    z.object({ base64: z.base64().nullable() }),
  ),
} as const;

export type ArchiveOperations = InternalHandlers<typeof ARCHIVE_OPERATIONS>;
