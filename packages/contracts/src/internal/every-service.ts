import { z } from 'zod';
import {
  keyIdSchema,
  sealedStateSchema,
  storedFileSchema,
  storedFilesPageSchema,
  storedFilesQuerySchema,
} from '../api/admin/deployment.js';
import { deadLetterNameSchema, deadLetterQuerySchema, deadLetterSchema, softwareSchema } from '../api/admin/state.js';
import { type InternalHandlers, internalOperation } from './operation.js';

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

const keyRequest = z.object({ key_id: keyIdSchema });

/** Operations of each service that keeps sealed values. */
export const MASTER_KEY_OPERATIONS = {
  sealedState: internalOperation('/internal/master-keys/state', ['gateway'], keyRequest, sealedStateSchema),
  /** Seals one block anew under the named key. 409 `conflict` if the service seals with another key, or cannot open a value. */
  reseal: internalOperation('/internal/master-keys/reseal', ['gateway'], keyRequest, z.object({ resealed: z.int() })),
} as const;
export type MasterKeyOperations = InternalHandlers<typeof MASTER_KEY_OPERATIONS>;

/** A gauge metric with one set of labels. */
const gaugeSchema = z.object({ name: z.string(), labels: z.record(z.string(), z.string()), value: z.number() });
export type GaugeValue = z.infer<typeof gaugeSchema>;

const oneDeadLetter = deadLetterNameSchema.omit({ service: true });

/** Operations of each service for the state of the deployment. */
export const STATE_OPERATIONS = {
  /** The present gauges of the process. */
  gauges: internalOperation('/internal/gauges', ['gateway'], z.object({}), z.object({ gauges: z.array(gaugeSchema) })),
  /** The versions of the process and its database. */
  software: internalOperation('/internal/software', ['gateway'], z.object({}), softwareSchema),
  listDeadLetters: internalOperation(
    '/internal/dead-letters',
    ['gateway'],
    deadLetterQuerySchema,
    z.object({ dead_letters: z.array(deadLetterSchema) }),
  ),
  /** The service handles it soon. 404 `not_found`. */
  replayDeadLetter: internalOperation('/internal/dead-letters/replay', ['gateway'], oneDeadLetter, deadLetterSchema),
  /** Deletes it. 404 `not_found`. */
  dismissDeadLetter: internalOperation('/internal/dead-letters/dismiss', ['gateway'], oneDeadLetter, deadLetterSchema),
} as const;
export type StateOperations = InternalHandlers<typeof STATE_OPERATIONS>;
