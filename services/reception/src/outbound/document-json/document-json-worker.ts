export { documentJson as default } from '../../core/documents/document-json.js';
