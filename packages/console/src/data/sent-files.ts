import type { BatchFile } from './batch-file.js';

/** The files that became batches since this page was loaded, by the number of the batch. The gateway does not keep the originals. */
export const sentFiles = new Map<string, BatchFile>();
