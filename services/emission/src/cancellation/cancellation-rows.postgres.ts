import { environmentRun } from '@ecf/domain';
import type { NumberRange } from '@ecf/domain/number-set';
import type { Cancellation, CancellationAlarm, CancellationLine, CancellationState } from './cancellation.js';

/** A row of `cancellation`. */
export interface CancellationRow {
  id: number;
  /** With the certification run. */
  env: string;
  issuer_rnc: string;
  account_id: string;
  created_by: string | null;
  content_hash: string;
  version: string;
  reason: string | null;
  total: number;
  generated_at: Date;
  created_at: Date;
  xml_path: string;
  xml_sha256: string;
  lines: CancellationLine[];
  revision: number;
  state: CancellationState;
  requested_at: Date | null;
  sent_at: Date | null;
  response: string | null;
  refused: NumberRange[];
  lost_sends: number;
  failures: number;
  next_action_at: Date | null;
  alarm: CancellationAlarm | null;
  settled_at: Date | null;
  settled_note: string | null;
}

export function fromRow(row: CancellationRow): Cancellation {
  return {
    id: row.id,
    ...environmentRun(row.env),
    issuerRnc: row.issuer_rnc,
    accountId: row.account_id,
    createdBy: row.created_by,
    contentHash: row.content_hash,
    version: row.version,
    reason: row.reason,
    total: row.total,
    generatedAt: row.generated_at,
    createdAt: row.created_at,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    lines: row.lines,
    revision: row.revision,
    state: row.state,
    requestedAt: row.requested_at,
    sentAt: row.sent_at,
    response: row.response,
    refused: row.refused,
    lostSends: row.lost_sends,
    failures: row.failures,
    nextActionAt: row.next_action_at,
    alarm: row.alarm,
    settled: row.settled_at === null ? null : { at: row.settled_at, note: row.settled_note ?? '' },
  };
}
