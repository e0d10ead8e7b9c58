import type { StoredFileTable } from '@ecf/service-kit/xml-store';

/** Where the rows of emission name XML. */
export const STORED_FILES: readonly StoredFileTable[] = [
  {
    table: 'attempt',
    key: ['emission_id', 'attempt'],
    files: [
      ['xml_path', 'xml_sha256'],
      ['rfce_path', 'rfce_sha256'],
    ],
  },
  { table: 'cancellation', key: ['id'], files: [['xml_path', 'xml_sha256']] },
];
