import type { StoredFileTable } from '@ecf/service-kit/xml-store';

const XML = [['xml_path', 'xml_sha256']] as const;

/** Where the rows of approvals name XML; what is delivered is kept by emission. */
export const STORED_FILES: readonly StoredFileTable[] = [
  { table: 'given_approvals', key: ['id'], files: XML },
  { table: 'received_approvals', key: ['id'], files: XML },
  { table: 'refused_approvals', key: ['id'], files: [['xml_path', 'sha256']] },
  { table: 'received_acknowledgements', key: ['id'], files: XML },
];
