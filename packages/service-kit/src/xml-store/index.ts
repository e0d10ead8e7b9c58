export * from './damaged-documents.js';
export * from './open-xml-store.js';
export * from './stored-files.js';
export * from './xml-store.files.js';
export * from './xml-store.js';
