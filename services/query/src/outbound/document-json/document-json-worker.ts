export { documentJson as default } from '../../core/invoices/document-json.js';
