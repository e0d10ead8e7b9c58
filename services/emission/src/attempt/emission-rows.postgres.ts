import { type EcfType, type EmissionState, environmentRun, type SubmissionRoute, storedEnvironment } from '@ecf/domain';
import type { RecordedExchange } from '../ports.js';
import type { AlarmKind, Attempt, DocumentSource, PastSubmission, SignedFacts, VerdictFacts } from './attempt.js';

/** A row of `attempt` joined with its `emission`. */
export interface AttemptRow {
  emission_id: number;
  /** With the certification run. */
  env: string;
  issuer_rnc: string;
  encf: string;
  account_id: string;
  ecf_type: EcfType;
  created_at: Date;
  attempt: number;
  revision: number;
  state: EmissionState;
  source: DocumentSource;
  route: SubmissionRoute;
  content_hash: string;
  facts: SignedFacts;
  xml_path: string;
  xml_sha256: string;
  rfce_path: string | null;
  rfce_sha256: string | null;
  signed_at: Date;
  committed_at: Date;
  signer_fingerprint: string | null;
  has_own_certificate: boolean;
  track_id: string | null;
  track_id_adopted: boolean;
  status_revision: number;
  verdict: VerdictFacts;
  submitted_at: Date | null;
  lost_sends: number;
  transient_refusals: number;
  not_found_since: Date | null;
  failures: number;
  next_action_at: Date | null;
  owner: string | null;
  modifies: string | null;
  modified_attempt: number | null;
  alarm: AlarmKind | null;
  past: PastSubmission[];
  submitted_by: string | null;
  request_id: string | null;
  own_reference: string | null;
  batch_line: string | null;
  contingency_since: Date | null;
  deadline: Date | null;
  queued_at: Date | null;
}

export function fromRow(row: AttemptRow): Attempt {
  return {
    emissionId: row.emission_id,
    ...environmentRun(row.env),
    issuerRnc: row.issuer_rnc,
    encf: row.encf,
    accountId: row.account_id,
    ecfType: row.ecf_type,
    createdAt: row.created_at,
    attempt: row.attempt,
    revision: row.revision,
    state: row.state,
    source: row.source,
    route: row.route,
    contentHash: row.content_hash,
    facts: row.facts,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    rfce: row.rfce_path === null ? null : { path: row.rfce_path, sha256: row.rfce_sha256 ?? '' },
    signedAt: row.signed_at,
    committedAt: row.committed_at,
    signerFingerprint: row.signer_fingerprint,
    hasOwnCertificate: row.has_own_certificate,
    trackId: row.track_id,
    trackIdAdopted: row.track_id_adopted,
    statusRevision: row.status_revision,
    verdict: row.verdict,
    submittedAt: row.submitted_at,
    lostSends: row.lost_sends,
    transientRefusals: row.transient_refusals,
    notFoundSince: row.not_found_since,
    failures: row.failures,
    nextActionAt: row.next_action_at,
    owner: row.owner,
    modifies: row.modifies,
    modifiedAttempt: row.modified_attempt,
    alarm: row.alarm,
    past: row.past,
    submittedBy: row.submitted_by,
    requestId: row.request_id,
    ownReference: row.own_reference,
    batchLine: row.batch_line,
    contingencySince: row.contingency_since,
    deadline: row.deadline,
    queuedAt: row.queued_at,
  };
}

/** The emission of a new attempt, for `json_populate_recordset(NULL::emission)`. */
export function emissionRow(attempt: Attempt): object {
  return {
    id: attempt.emissionId,
    env: storedEnvironment(attempt),
    issuer_rnc: attempt.issuerRnc,
    encf: attempt.encf,
    account_id: attempt.accountId,
    ecf_type: attempt.ecfType,
    attempt: attempt.attempt,
    created_at: attempt.createdAt,
  };
}

/** A new attempt, for `json_populate_recordset(NULL::attempt)`. */
export function attemptRow(attempt: Attempt): object {
  return {
    emission_id: attempt.emissionId,
    attempt: attempt.attempt,
    source: attempt.source,
    route: attempt.route,
    content_hash: attempt.contentHash,
    facts: attempt.facts,
    xml_path: attempt.xml.path,
    xml_sha256: attempt.xml.sha256,
    rfce_path: attempt.rfce?.path ?? null,
    rfce_sha256: attempt.rfce?.sha256 ?? null,
    signed_at: attempt.signedAt,
    committed_at: attempt.committedAt,
    signer_fingerprint: attempt.signerFingerprint,
    modifies: attempt.modifies,
    modified_attempt: attempt.modifiedAttempt,
    submitted_by: attempt.submittedBy ?? null,
    request_id: attempt.requestId ?? null,
    own_reference: attempt.ownReference ?? null,
    batch_line: attempt.batchLine ?? null,
    contingency_since: attempt.contingencySince ?? null,
    ...changingColumns(attempt),
  };
}

/** The columns that a state transition may change, for `json_populate_recordset(NULL::attempt)`. */
export function changedRow(attempt: Attempt): object {
  return {
    emission_id: attempt.emissionId,
    attempt: attempt.attempt,
    ...changingColumns(attempt),
  };
}

function changingColumns(attempt: Attempt) {
  return {
    revision: attempt.revision,
    state: attempt.state,
    has_own_certificate: attempt.hasOwnCertificate,
    track_id: attempt.trackId,
    track_id_adopted: attempt.trackIdAdopted,
    status_revision: attempt.statusRevision,
    verdict: attempt.verdict,
    submitted_at: attempt.submittedAt,
    lost_sends: attempt.lostSends,
    transient_refusals: attempt.transientRefusals,
    not_found_since: attempt.notFoundSince,
    failures: attempt.failures,
    next_action_at: attempt.nextActionAt,
    owner: attempt.owner,
    alarm: attempt.alarm,
    past: attempt.past,
    queued_at: attempt.queuedAt ?? null,
    deadline: attempt.deadline ?? null,
  };
}

/** An exchange with the authority about an attempt, for `json_populate_recordset(NULL::exchange)`. */
export function exchangeRow({ emissionId }: Attempt, exchange: RecordedExchange): object {
  const { operation, at, outcome, httpStatus, contentType, body } = exchange;
  return {
    emission_id: emissionId,
    operation,
    at,
    outcome,
    http_status: httpStatus,
    content_type: contentType,
    // Text of the network may hold what PostgreSQL's text cannot: NUL, and halves of surrogate pairs.
    body: body === null ? null : Buffer.from(body).toString('utf8').replaceAll('\0', '\ufffd'),
  };
}
