/** A public error code: its status, its meaning, and what the caller does about it. */
export interface ErrorCodeEntry {
  readonly status: number;
  /** Seconds for `Retry-After`; absent if the response has none. */
  readonly retryAfter?: number;
  readonly meaning: string;
  readonly remedy: string;
}

/**
 * Every error code of the public interface and of `/admin`. `GET /errors` serves this table. With {@link ErrorCode} the
 * compiler refuses any other code.
 */
export const ERROR_CODES = {
  bad_request: {
    status: 400,
    meaning: 'The request is not well-formed HTTP, or its address cannot be decoded.',
    remedy: 'Correct the request; percent-encode the address as UTF-8.',
  },
  invalid_json: {
    status: 400,
    meaning: 'The body, or the part `data` of the form, is not valid JSON.',
    remedy: 'Correct the JSON at the position that the response names.',
  },
  not_utf8: {
    status: 400,
    meaning: 'The bytes are not UTF-8.',
    remedy: 'Send UTF-8; the gateway does not guess or replace characters.',
  },
  invalid_xml: {
    status: 400,
    meaning: 'The XML cannot be read, is refused for safety, or its signature is not valid.',
    remedy: 'Send one well-formed, signed UTF-8 document without DOCTYPE, unchanged since it was signed.',
  },
  document_too_costly: {
    status: 400,
    meaning: 'The document takes more time or memory to check than any genuine one; no number was used.',
    remedy: 'Send a document with fewer values and shorter texts. The unchanged document is refused again.',
  },
  invalid_document: {
    status: 400,
    meaning: 'The authority would reject the document; no number was used.',
    remedy:
      'Correct each field named in faults and send the document again, under the same eNCF unless that is the fault.',
  },
  wrong_endpoint: {
    status: 400,
    meaning:
      'The document belongs to another endpoint (type 32 under 250,000.00 to /submit_fc, all others to /submit_ecf).',
    remedy: 'Send it to the endpoint that the response names.',
  },
  invalid_batch: {
    status: 400,
    meaning:
      'The body is not a JSON array of documents, has no document, or has more than 10,000. No document of it is kept.',
    remedy: 'Send one document per line (NDJSON) or a JSON array of documents, at most 10,000.',
  },
  ambiguous_encf: {
    status: 400,
    meaning: 'Several documents of the account hold this eNCF.',
    remedy: 'Name the issuer or the buyer, as the response says.',
  },
  invalid_parameters: {
    status: 400,
    meaning: 'The parameters contradict each other.',
    remedy: 'Correct them as the response says.',
  },
  invalid_issuer_rnc: {
    status: 400,
    meaning: 'issuer_rnc is missing, malformed, or not the issuer of the document.',
    remedy: 'Send the issuer RNC of the original invoice, 9 or 11 digits.',
  },
  invalid_seed: {
    status: 400,
    meaning: 'The signed seed was not issued by this receiver, was used, has expired, or its signature is not valid.',
    remedy: 'Get a new seed, sign it and send it before it expires.',
  },
  invalid_api_key: {
    status: 401,
    meaning: 'The header x-api-key is missing, or the key is unknown, revoked or expired.',
    remedy: 'Send a valid key of the account in x-api-key.',
  },
  environment_not_allowed: {
    status: 401,
    meaning: 'The key is valid but was not issued for this environment.',
    remedy: 'Use a key of this environment, or name the right environment in the header env.',
  },
  invalid_admin_token: {
    status: 401,
    meaning: 'The administration needs Authorization: Bearer with the token of an administrator, or ADMIN_TOKEN.',
    remedy: 'Send a token that is neither deleted nor expired.',
  },
  session_ended: {
    status: 401,
    meaning: 'The session of the console has ended: somebody signed out, or it was not used for eight hours.',
    remedy: 'Sign in again.',
  },
  invalid_identity: {
    status: 401,
    meaning: 'A service was called without the signed identity of the gateway.',
    remedy: 'Call the gateway; services cannot be called directly.',
  },
  invalid_token: {
    status: 401,
    meaning: 'The authority token in x-token is missing, expired or refused by the authority.',
    remedy: 'Get a new one from /obtain_token and repeat the request.',
  },
  invalid_provider_token: {
    status: 401,
    meaning: 'This deployment requires a Bearer token of providers; the token is missing or not valid.',
    remedy: 'Get one from the seed and validation services of this receiver.',
  },
  login_refused: {
    status: 401,
    meaning: 'The authority refuses to log in with this certificate.',
    remedy: 'Check that the authority accepts the certificate for this taxpayer and environment.',
  },
  missing_scope: {
    status: 403,
    meaning: 'The API key is valid but lacks the scope that this operation needs.',
    remedy: 'Use a key with the scope that the response names, or ask the owner of the account for one.',
  },
  beyond_own_rights: {
    status: 403,
    meaning: 'The API key has the scope manage, but the change concerns rights that the key itself lacks.',
    remedy: 'Request no more rights than the key has, as the response says, or have an administrator make the change.',
  },
  missing_role: {
    status: 403,
    meaning: 'The role of the administrator is not enough for this operation.',
    remedy: 'Use the token of an administrator with the role that the response names.',
  },
  not_found: {
    status: 404,
    meaning: 'The account has no such object.',
    remedy: 'Check the identifier, the RNC and the environment.',
  },
  unknown_route: {
    status: 404,
    meaning: 'No operation has this address.',
    remedy: 'Check the path; /docs lists every route.',
  },
  taxpayer_not_found: {
    status: 404,
    meaning: 'The RNC is not a taxpayer of this account.',
    remedy: 'Use an RNC of the account, or register it.',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The address does not support this method.',
    remedy: 'Use one of the methods in the header Allow.',
  },
  request_timeout: {
    status: 408,
    retryAfter: 1,
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Send it again.',
  },
  authority_timeout: {
    status: 408,
    retryAfter: 10,
    meaning: 'The authority did not answer in time; the document is stored and the gateway continues to send it.',
    remedy: 'Repeat the same bytes later: the response has the trackId once it is known.',
  },
  not_printable: {
    status: 409,
    meaning: 'The document has no printed form: it was rejected or withdrawn, or it is not a signed e-CF.',
    remedy: 'Read its status and messages with `GET /invoices/{encf}`; its XML remains available.',
  },
  encf_already_used: {
    status: 409,
    meaning:
      'Another document is stored under this eNCF, or the authority has one that a restored gateway lost, so the number cannot be used again. The message names its status and the elements that differ, or the numbers of lost documents.',
    remedy:
      'Compare the elements. Use another number only for another sale; the same sale, with any FechaHoraFirma, gets its stored response.',
  },
  encf_cancelled: {
    status: 409,
    meaning: 'The eNCF was annulled.',
    remedy: 'Use another number.',
  },
  batch_cancelled: {
    status: 409,
    meaning: 'The batch was cancelled before this document began. Its number is free.',
    remedy: 'Submit the document again if you still want to issue it.',
  },
  reference_refused: {
    status: 409,
    meaning: 'The document of the batch to which this one refers was refused. The number is free.',
    remedy: 'Correct the other document and submit both again.',
  },
  idempotency_conflict: {
    status: 409,
    meaning:
      'The idempotency-key names another document or batch. The message names the stored document and the elements that differ.',
    remedy: 'Use another key only for another sale; the same content under the old key gets its stored response.',
  },
  range_exhausted: {
    status: 409,
    meaning: 'The document has no eNCF, and every number of the registered ranges is used.',
    remedy: 'Request a range from the authority and register it.',
  },
  range_in_use: {
    status: 409,
    meaning: 'The new list of number ranges lacks numbers that were used, cancelled or reserved.',
    remedy: 'Keep the ranges that the response names in the list. Add ?remove=true only to remove them on purpose.',
  },
  range_expired: {
    status: 409,
    meaning: 'The document has no eNCF, and the numbers left of the registered ranges are expired.',
    remedy: 'Request a range from the authority and register it.',
  },
  encf_in_use: {
    status: 409,
    meaning: 'Some of the numbers are used, in flight, or already annulled.',
    remedy: 'Leave out the numbers that the response names.',
  },
  already_answered: {
    status: 409,
    meaning: 'The invoice already has a commercial approval or rejection.',
    remedy: 'Read the decision that the response names.',
  },
  taxpayer_taken: {
    status: 409,
    meaning: 'The RNC is already registered in this deployment.',
    remedy: 'A taxpayer belongs to one account; use the account that has it.',
  },
  conflict: {
    status: 409,
    meaning: 'The request contradicts the present state.',
    remedy: 'Read the present state and decide again.',
  },
  event_expired: {
    status: 410,
    meaning: 'The event named in `after` is older than the events that are kept.',
    remedy:
      'Begin with the oldest event that is kept, GET /events without after. Read the lists for what happened before.',
  },
  body_too_large: {
    status: 413,
    meaning: 'The body is larger than MAX_BODY_BYTES.',
    remedy: 'Send a smaller body, or have the operator raise the limit.',
  },
  unsupported_media_type: {
    status: 415,
    meaning: 'This address does not accept this content type.',
    remedy: 'Send the content type that the response names.',
  },
  expectation_failed: {
    status: 417,
    meaning: 'The header Expect has another value than 100-continue.',
    remedy: 'Send the request without this header.',
  },
  validation_error: {
    status: 422,
    meaning: 'A parameter, header or field is missing or malformed.',
    remedy: 'Correct each place that items names: loc is the place, msg the reason.',
  },
  idempotency_key_required: {
    status: 422,
    meaning: 'The document has no eNCF and the request has no idempotency-key. No number was used.',
    remedy: 'Send the header idempotency-key with 1 to 255 printable characters that name the document, or state eNCF.',
  },
  unknown_event: {
    status: 422,
    meaning: '`after` is not the id of an event, nor a `next` of an earlier response.',
    remedy: 'Send the id of an event, or next, unchanged. GET /events without after begins with the oldest event.',
  },
  environment_not_served: {
    status: 422,
    meaning: 'This deployment uses a simulator of the authority, so it does not serve production (eCF).',
    remedy: 'Use TesteCF or CerteCF, or a deployment that uses the authority itself.',
  },
  service_not_in_environment: {
    status: 422,
    meaning: 'The authority does not have this service in this environment.',
    remedy: 'Use TesteCF or eCF for it.',
  },
  rate_limited: {
    status: 429,
    retryAfter: 1,
    meaning:
      'The caller sent more requests in a second than the limit allows, or has as many requests in progress as its share allows.',
    remedy: 'Wait for Retry-After and repeat.',
  },
  daily_bytes_used: {
    status: 429,
    retryAfter: 3_600,
    meaning:
      'The sender, its signer, or all senders that are not known here have used the bytes that this receiver keeps of them in 24 hours. This document was not kept.',
    remedy: 'Repeat the same bytes after Retry-After, or have the operator of the receiver raise the limit.',
  },
  headers_too_large: {
    status: 431,
    meaning: 'The headers of the request are too large.',
    remedy: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    meaning: 'An unexpected failure; the log has it under request_id.',
    remedy: 'Report request_id to the operator. The same request may be repeated; no document is issued twice.',
  },
  document_damaged: {
    status: 500,
    meaning: 'The stored document is missing, or its checksum has changed.',
    remedy: 'Report it to the operator; the gateway returns only the bytes that were stored.',
  },
  authority_unreadable: {
    status: 502,
    meaning: 'The answer of the authority cannot be used.',
    remedy: 'See /monitoring/status, and have a person repeat the request later.',
  },
  service_unavailable: {
    status: 503,
    retryAfter: 5,
    meaning: 'A part of the deployment is missing or not ready.',
    remedy: 'Repeat after Retry-After.',
  },
  overloaded: {
    status: 503,
    retryAfter: 5,
    meaning:
      'More work is waiting than the service accepts, or other requests changed the same document at every attempt; this request had no effect.',
    remedy: 'Repeat after Retry-After.',
  },
  commit_unconfirmed: {
    status: 503,
    retryAfter: 5,
    meaning: 'The database became unavailable while it stored the document or cancellation, which may be in progress.',
    remedy: 'Repeat the same request unchanged: the response has the outcome, and no document is sent twice.',
  },
  storage_full: {
    status: 503,
    retryAfter: 60,
    meaning: 'The disk of the deployment is full, or too full for requests without a key.',
    remedy: 'Repeat after Retry-After; the operator must free space.',
  },
  authority_unreachable: {
    status: 503,
    retryAfter: 10,
    meaning: 'The authority cannot be reached; no document was signed and no number was used.',
    remedy: 'Repeat after Retry-After; see /monitoring/status.',
  },
  certificate_missing: {
    status: 503,
    meaning: 'The taxpayer has no stored certificate.',
    remedy: 'Upload one in the administration, or send certificate and password with the request.',
  },
  certificate_expired: {
    status: 503,
    meaning: 'The stored certificate of the taxpayer has expired.',
    remedy: 'Upload a new one in the administration.',
  },
  certificate_not_yet_valid: {
    status: 503,
    retryAfter: 3_600,
    meaning: 'The stored certificate of the taxpayer is not valid yet.',
    remedy: 'Repeat after its first day has begun, or upload another.',
  },
  certificate_unusable: {
    status: 503,
    meaning: 'The stored certificate cannot be opened.',
    remedy: 'Upload it again; if the error stays, MASTER_KEY is not the key that sealed it.',
  },
  status_key_missing: {
    status: 503,
    meaning: 'The deployment has no key for the status service of the authority.',
    remedy: 'The operator must set STATUS_KEY.',
  },
} as const satisfies Record<string, ErrorCodeEntry>;

/** The name of a public error. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** The entry of a code. */
export function errorCodeEntry(code: ErrorCode): ErrorCodeEntry {
  return ERROR_CODES[code];
}
