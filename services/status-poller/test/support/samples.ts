import type { AuthorityVerdict } from '@ecf/authority-client';
import type { InvoiceChanged } from '@ecf/contracts';
import type { ClaimedPoll } from '../../src/submission.js';

export const NOW = new Date('2026-03-02T12:00:00Z');
export const ISSUER = '199999991';

export function verdict(change: Partial<AuthorityVerdict> = {}): AuthorityVerdict {
  return {
    status: 'Aceptado',
    code: '1',
    messages: [],
    sequenceUsed: true,
    trackId: null,
    dateReceived: '2026-03-02T08:00:01-04:00',
    rnc: ISSUER,
    encf: 'E310000000001',
    ...change,
  };
}

/** `invoice.changed` of a document with or without a verdict. */
export function invoiceChanged(change: Partial<InvoiceChanged> = {}): InvoiceChanged {
  const trackId = change.track_id === undefined ? 'track' : change.track_id;
  return {
    id: 1,
    env: 'TesteCF',
    issuer_rnc: ISSUER,
    encf: 'E310000000001',
    account_id: 'account-1',
    revision: 3,
    ecf_type: '31',
    route: 'ecf',
    state: 'processing',
    status: 'EnProceso',
    final: false,
    code: '3',
    messages: [],
    sequence_used: null,
    issuer_name: 'EMISOR',
    buyer_rnc: null,
    buyer_name: null,
    date_issued: '2026-03-02',
    created_at: '2026-03-02T08:00:00-04:00',
    signed_at: '2026-03-02T08:00:00-04:00',
    total_amount: '118.00',
    total_itbis: '18.00',
    modified_encf: null,
    security_code: 'abcdef',
    qr_url: 'https://example.com',
    xml_storage_path: 'x.xml',
    xml_checksum: '00',
    rfce_storage_path: null,
    rfce_checksum: null,
    attempts: [
      {
        attempt: 1,
        track_id: trackId,
        submitted_at: '2026-03-02T08:00:00-04:00',
        status: change.status ?? 'EnProceso',
        code: change.code ?? '3',
        messages: [],
        sequence_used: null,
        date_received: null,
        final: change.final ?? false,
      },
    ],
    ...change,
    track_id: trackId,
  };
}

export function claimedPoll(change: Partial<ClaimedPoll>): ClaimedPoll {
  return {
    env: 'TesteCF',
    trackId: 'track',
    issuerRnc: ISSUER,
    encf: 'E310000000001',
    accountId: 'account-1',
    submittedAt: NOW,
    facts: { status: 'EnProceso', code: '3', messages: [], sequenceUsed: null, dateReceived: null },
    final: false,
    queriedAt: null,
    traceparent: null,
    revision: 1,
    claim: '00000000-0000-4000-8000-000000000000',
    tries: 0,
    failures: 0,
    alarmed: false,
    ...change,
  };
}
