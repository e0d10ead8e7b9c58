/**
 * What a field of this name means, wherever it appears. A schema in which it means something else, or more, describes it itself
 * (`.meta`).
 */
export const FIELD_DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: 'Id, unique among objects of its kind',
  name: 'Name, for people',
  status: "The authority's status of the document",
  code: "The authority's code of the status; null before its first answer",
  next: 'The value of `after` for the next page; null at the end',

  run: 'The certification run of the issuer; absent means 1',
  revision: 'Increases with every change; a consumer keeps the highest',

  // Documents
  encf: 'The eNCF: E and 12 digits',
  ecf_type: 'The type of e-CF, TipoeCF: two digits',
  env: 'The environment of the authority',
  authority_environment: 'The environment of the authority',
  issuer_rnc: 'RNC of the issuer',
  buyer_rnc: 'RNC of the buyer; null if the document names none',
  buyer_name: 'RazonSocialComprador; null if the document has none',
  provider_rnc: 'RNC of the provider, who issued the document',
  provider_name: 'RazonSocialEmisor of the document',
  receiver_rnc: 'RNC of the buyer that decides',
  date_issued: 'FechaEmision of the document, YYYY-MM-DD',
  date_received: 'When the document was received',
  signed_at: 'FechaHoraFirma: when the document was signed',
  total_amount: 'MontoTotal in DOP, text with two decimals',
  total_itbis: 'TotalITBIS in DOP, text with two decimals',
  modified_encf: 'The eNCF that a note modifies; null for other documents',
  route: 'ecf: sent as a full e-CF; rfce: sent as a summary',
  qr_url: "The address in the QR code, at the authority's official host; null without a signature",
  security_code: 'The first six characters of the signature, printed below the QR code; null without a signature',
  warnings: 'What may be wrong with the document; it was not refused for it',
  xml_storage_path: 'Where the archive keeps the signed document',
  xml_checksum: 'SHA-256 of the signed document in hexadecimal',
  xml_schema_version: 'Version of the XML schema',
  sha256: 'SHA-256 of the document in hexadecimal',
  arecf_storage_path: 'Where the archive keeps the acknowledgement',
  arecf_checksum: 'SHA-256 of the acknowledgement in hexadecimal',
  created_by: 'Id of the API key that created it; null if it is not known',
  request_id: 'Id of the request, as in the header x-request-id and in the logs; null if there is none',

  // What the authority says
  messages: "The authority's messages, unchanged; an entry with codigo `gateway` is from the gateway itself",
  codigo: "The authority's code",
  track_id: "The authority's trackId; null if it gave none",
  trackId: "The authority's trackId; null if it gave none yet",
  sequence_used: 'Whether the number is used; null until the authority has decided',
  authority_response: "The authority's last answer, unchanged; null without one",
  final: 'Whether the status is final',
  attempt: 'Counts the submissions of the number from 1',
  submitted_at: 'When it was sent to the authority; null if it was not sent',
  delivery_status:
    'Delivery to the buyer: not_required, no_receiver (the directory has no address), pending, delivered, refused (Estado 1), unacknowledged (the answer was not a valid ARECF; it is sent again), failed (the deadline has passed)',
  approval_status: "The buyer's decision: pending, approved or rejected; null if the type has none",
  approval_datetime: 'When the buyer decided; null without a decision',
  rejection_reason: 'Why it was rejected; null if it was not',
  rejection_code: 'The code of the reason; null if it was not rejected',
  rejection_description: 'The reason as text; null if there is none',
  authority_submission_status:
    'State at the authority: submitted (sent, not decided), Aceptado, Rechazado, failed; null if it is not sent there',
  issuer_delivery_status:
    'State at the issuer: pending, delivered, refused, no_receiver, failed; null if it is not sent there',
  issuer_delivery_error: 'Why the last send to the issuer failed; null if it did not',
  sent_to_authority: 'Whether it was sent to the authority',
  sent_at: 'When it was sent to the authority; null if it was not',

  // Signers and certificates
  signer: 'The certificate that signed it',
  subject: 'Holder of the certificate',
  issuer: 'Issuer of the certificate',
  serial_number: 'Serial number of the certificate in hexadecimal',
  fingerprint: 'SHA-256 of the certificate in hexadecimal',
  certificate: 'The stored certificate; null without one',

  // Periods, pages and sums
  start_date: 'First day of the period, DD-MM-YYYY',
  end_date: 'Last day of the period, DD-MM-YYYY',
  limit: 'Maximum number of rows of a page',
  offset: 'Rows that were skipped',
  count: 'Number of rows in this response',
  total: 'Number of all rows that match',
  month: 'The month, YYYY-MM',
  by_month: 'Sums by month',
  by_type: 'Sums by type of e-CF',
  by_status: 'Sums by status',
  total_invoices: 'Number of documents in the period',

  // Numbers and cancellations
  encf_desde: 'First number of the range',
  encf_hasta: 'Last number of the range; the same for a single number',
  quantity_canceled: 'Numbers in the range',
  total_encf_canceled: 'Numbers in all ranges',
  sequence_ranges: 'The ranges of numbers',
  detail_lines: 'One line for each type of e-CF',
  version: 'Version of the format',
  from: 'First number of the range',
  to: 'Last number of the range',
  expires: 'Last day of the range, YYYY-MM-DD; null without one',
  ranges: 'The registered ranges of numbers',

  // Accounts, keys and administrators
  rnc: 'RNC, 9 or 11 digits',
  account_id: 'Id of the account',
  active: 'False if it is switched off',
  created_at: 'When it was created',
  expires_at: 'When it expires; null if it does not',
  key: 'The API key; it is not shown again',
  environments: 'The environments it may use',
  scopes: 'What the key may do',
  taxpayers: 'The RNCs that the key may act for; null for all of the account',
  role: 'viewer reads, operator also acts, owner also manages keys and administrators',

  // Operations
  tries: 'Number of sends',
  settled_at: 'When a person settled it; null if no person did',
  note: 'The reason, in the words of the person who settled it; null if no person did',
  started_at: 'When it began; null if it has not',
  finished_at: 'When it ended; null until then',
  documents: 'The documents of this page',
  invoices: 'The documents of this page',
  deliveries: 'The deliveries of this page',
  answers: 'The answers, oldest first',
  received_at: 'When it was received',
  state: 'State of the submission',
  numbers: 'Its first numbers, in a form for people',
  track_ids: 'The submissions, oldest first',

  // Batches
  batch_id: 'Id of the batch',
  refused: 'Lines that were never submitted',

  // Webhooks
  url: 'The address to which events are posted',
  types: 'The types of events that are posted',
  secret: 'Signs the posts; it is not shown again',

  services: 'The services',

  // The archive and the master keys
  path: 'Path of the file in the archive',
  key_id: 'Id of the newest master key',
  at: 'When it happened',
};
