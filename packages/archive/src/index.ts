export { type Archiver, createArchiver, PENDING_DOCUMENT_DUE_TIMES } from './archiver.js';
export { syncFolder } from './folder-sync.js';
export { freeOnDisk } from './free-on-disk.js';
export { createIntegrityErrors } from './integrity-errors.js';
export { createArchiveCheck } from './nightly-check.js';
export { archiveSettings, openXmlStore, readArchiveSettings } from './open-xml-store.js';
export {
  addPendingDocuments,
  documentsOf,
  ownDocuments,
  type PendingDocument,
  pendingColumns,
  storedBytes,
} from './pending-documents.js';
export { createStoredFiles, STORED_FILES, type StoredFileTable } from './stored-files.js';
export { openFileXmlStore } from './xml-store.files.js';
export { type DocumentReader, isIntegrityError, type XmlStore, XmlStoreError } from './xml-store.js';
