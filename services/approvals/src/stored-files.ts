import type { StoredFileTable } from '@ecf/service-kit/xml-store';

const XML = [['xml_path', 'xml_sha256']] as const;

/** The columns that name XML of this service. Emission keeps the documents that are delivered. */
export const STORED_FILES: readonly StoredFileTable[] = [
  { table: 'given_approvals', key: ['id'], files: XML },
  { table: 'received_approvals', key: ['id'], files: XML },
  { table: 'refused_approvals', key: ['id'], files: [['xml_path', 'sha256']] },
  { table: 'received_acknowledgements', key: ['id'], files: XML },
];
