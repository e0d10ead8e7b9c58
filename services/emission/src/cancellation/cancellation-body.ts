import {
  type CancellationChanged,
  type CancellationRecord,
  type CancellationStatus,
  MAX_EVENT_RANGES,
} from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { common, count, encfOf, type NumberRange } from '@ecf/domain/number-set';
import { blockedBy, type Cancellation, type CancellationState, rangesOf } from './cancellation.js';

const MOST_LINES = 10;
const MOST_RANGES = 100_000;

/** Public status of each state. */
export const CANCELLATION_STATUS: Readonly<Record<CancellationState, CancellationStatus | null>> = {
  local: null,
  sending: 'submitted',
  failed: 'failed',
  submitted: 'submitted',
  accepted: 'Aceptado',
  partial: 'Parcial',
  rejected: 'Rechazado',
};

/**
 * The record for callers. Ids of lines and ranges follow from the id of the cancellation, which has at most ten lines
 * and a hundred thousand ranges.
 */
export function cancellationBody(cancellation: Cancellation): CancellationRecord {
  const { id, lines, state, alarm } = cancellation;
  const decided = state === 'accepted' || state === 'rejected' || (state === 'partial' && alarm === null);
  let ranges = 0;
  return {
    id,
    version: cancellation.version,
    issuer_rnc: cancellation.issuerRnc,
    total_encf_canceled: cancellation.total,
    generation_datetime: toIsoDominican(cancellation.generatedAt),
    authority_environment: cancellation.env,
    cancellation_reason: cancellation.reason,
    detail_lines: lines.map((line, index) => ({
      id: id * MOST_LINES + index,
      line_number: index + 1,
      ecf_type: line.type,
      total_encf_canceled: line.total,
      sequence_ranges: rangesOf([line]).map((range) => {
        ranges += 1;
        return {
          id: id * MOST_RANGES + ranges - 1,
          encf_desde: encfOf(range.type, range.from),
          encf_hasta: encfOf(range.type, range.to),
          quantity_canceled: range.to - range.from + 1,
          authority_status: decided ? statusOf(range, cancellation) : null,
        };
      }),
    })),
    sent_to_authority: cancellation.sentAt !== null,
    sent_at: cancellation.sentAt === null ? null : toIsoDominican(cancellation.sentAt),
    authority_status: CANCELLATION_STATUS[state],
    authority_response: cancellation.response,
    xml_storage_path: cancellation.xmlPath,
    xml_checksum: cancellation.xmlSha256,
    xml_schema_version: '1.0',
    created_at: toIsoDominican(cancellation.createdAt),
    created_by: cancellation.createdBy,
  };
}

function statusOf(range: NumberRange, { state, refused }: Cancellation): 'Aceptado' | 'Parcial' | 'Rechazado' {
  if (state === 'accepted') return 'Aceptado';
  if (state === 'rejected') return 'Rechazado';
  const near = refused.filter(({ type, from, to }) => type === range.type && from <= range.to && to >= range.from);
  const gone = count(common([range], near));
  if (gone === 0) return 'Aceptado';
  return gone === range.to - range.from + 1 ? 'Rechazado' : 'Parcial';
}

/** Data of `cancellation.changed`: the present state. */
export function cancellationChanged(cancellation: Cancellation): CancellationChanged {
  const blocked = blockedBy(cancellation);
  return {
    id: cancellation.id,
    env: cancellation.env,
    issuer_rnc: cancellation.issuerRnc,
    run: cancellation.run,
    account_id: cancellation.accountId,
    revision: cancellation.revision,
    authority_status: CANCELLATION_STATUS[cancellation.state],
    total_encf_canceled: cancellation.total,
    total_encf_blocked: count(blocked),
    blocked: blocked.slice(0, MAX_EVENT_RANGES).map(({ type, from, to }) => ({ ecf_type: type, from, to })),
    blocked_complete: blocked.length <= MAX_EVENT_RANGES,
    created_at: toIsoDominican(cancellation.createdAt),
    sent_at: cancellation.sentAt === null ? null : toIsoDominican(cancellation.sentAt),
    xml_storage_path: cancellation.xmlPath,
    xml_checksum: cancellation.xmlSha256,
  };
}
