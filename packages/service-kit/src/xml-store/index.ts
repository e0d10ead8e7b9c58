export * from './archiver.js';
export { freeOnDisk } from './free-on-disk.js';
export * from './integrity-errors.js';
export * from './open-xml-store.js';
export * from './pending-documents.js';
export * from './stored-files.js';
export * from './xml-store.files.js';
export * from './xml-store.js';
