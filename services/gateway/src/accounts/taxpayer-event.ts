import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { certificateBody } from './certificate-upload.js';
import type { WholeTaxpayer } from './taxpayer-rows.postgres.js';

/** The state that is published to services. */
export function toState(row: WholeTaxpayer): TaxpayerState {
  return {
    rnc: row.rnc,
    account_id: row.accountId,
    account_active: row.accountActive,
    revision: row.revision,
    previous_revision: row.previousRevision,
    name: row.name,
    active: row.active,
    certificate: row.certificate?.sealed.toString('base64') ?? null,
    fingerprint: row.certificate?.fingerprint ?? null,
    certificate_facts: row.certificate === null ? null : certificateBody(row.certificate),
    logo_sha256: row.logo?.sha256 ?? null,
    ranges: row.ranges,
    created_at: toIsoDominican(row.createdAt),
  };
}

/** The event `taxpayer.changed` with the taxpayer's whole state. */
export function taxpayerChanged(row: WholeTaxpayer, time: Date): BusEvent {
  const draft = {
    topic: TOPICS.taxpayers.name,
    type: 'taxpayer.changed',
    source: 'gateway',
    subject: row.rnc,
    key: row.rnc,
    data: toState(row),
  };
  return makeEvent(draft, { id: randomUUID(), time });
}
