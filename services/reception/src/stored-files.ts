import type { StoredFileTable } from '@ecf/service-kit/xml-store';

/** The columns of reception that name files of the archive. */
export const STORED_FILES: readonly StoredFileTable[] = [
  {
    table: 'received_documents',
    key: ['id'],
    files: [
      ['xml_path', 'xml_sha256'],
      ['arecf_path', 'arecf_sha256'],
    ],
  },
  {
    table: 'refused_documents',
    key: ['id'],
    files: [
      ['xml_path', 'sha256'],
      ['arecf_path', 'arecf_sha256'],
    ],
  },
];
