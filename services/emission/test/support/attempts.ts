import type {
  Answer,
  AuthorityVerdict,
  DocumentState,
  SubmissionReceipt,
  TrackIdEntry,
  TrackIdList,
} from '@ecf/authority-client';
import type { Attempt, NewAttempt } from '../../src/attempt/attempt.js';
import { beginAttempt, type FollowUpSettings, type Timing } from '../../src/attempt/transitions.js';

export const NOW = new Date('2026-06-15T14:00:00Z');

const SETTINGS: FollowUpSettings = {
  resendAfterMs: 300_000,
  firstRetryMs: 4_000,
  tryAgainLimit: 2,
};

/** The moment `ms` after NOW, with average jitter. */
export function at(ms: number, settings: Partial<FollowUpSettings> = {}): Timing {
  return { now: new Date(NOW.getTime() + ms), random: () => 0.5, settings: { ...SETTINGS, ...settings } };
}

export function fresh(change: Partial<NewAttempt> = {}): NewAttempt {
  return {
    env: 'TesteCF',
    issuerRnc: '199999991',
    encf: 'E310000000001',
    accountId: 'account-1',
    ecfType: '31',
    source: 'json',
    route: 'ecf',
    contentHash: 'hash-1',
    facts: {
      summary: {
        document: 'ECF',
        encf: 'E310000000001',
        ecf_type: '31',
        issuer_rnc: '199999991',
        issuer_name: 'Comercial Palma Ficticia, SRL',
        buyer_rnc: '188888885',
        buyer_foreign_id: null,
        buyer_name: 'Taller Caoba Imaginario, SRL',
        date_issued: '2026-06-15',
        total_amount: '11430.00',
        total_itbis: '1630.00',
        modified_encf: null,
        modification_code: null,
        signature_datetime: '2026-06-15 10:00:00',
      },
      securityCode: 'aB+/12',
      qrUrl: 'https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=199999991',
      signatureDateTime: '2026-06-15 10:00:00',
      warnings: [],
    },
    xml: {
      path: 'TesteCF/ecf/199999991/issued/2026/06/199999991E310000000001-000000000000.xml',
      sha256: '0'.repeat(64),
    },
    rfce: null,
    signedAt: NOW,
    signerFingerprint: 'f'.repeat(64),
    hasOwnCertificate: false,
    submittedBy: null,
    ownReference: null,
    requestId: null,
    batchLine: null,
    modifies: null,
    modifiedAttempt: null,
    ...change,
  };
}

/** A first attempt in the state `sending`. */
export function sending(change: Partial<NewAttempt> = {}, timing = at(0)): Attempt {
  return beginAttempt(fresh(change), null, 1, timing, { owner: 'me', leaseMs: 60_000, held: false });
}

const RAW = { status: 200, contentType: 'application/json', body: '{}', truncated: false };

export function verdict<V>(value: V): Extract<Answer<V>, { outcome: 'verdict' }> {
  return { outcome: 'verdict', verdict: value, raw: RAW };
}

export function receipt(trackId: string | null, message: string | null = null): Answer<SubmissionReceipt> {
  return verdict({
    received: trackId !== null,
    trackId,
    error: message,
    message,
    messages: message === null ? [] : [{ codigo: '', valor: message }],
  });
}

export function result(
  status: AuthorityVerdict['status'],
  change: Partial<AuthorityVerdict> = {},
): Extract<Answer<AuthorityVerdict>, { outcome: 'verdict' }> {
  const code = { 'No encontrado': '0', Aceptado: '1', Rechazado: '2', EnProceso: '3', AceptadoCondicional: '4' }[
    status
  ];
  return verdict({
    status,
    code,
    messages: [],
    sequenceUsed: null,
    trackId: null,
    dateReceived: null,
    rnc: null,
    encf: null,
    ...change,
  });
}

export const REPEATED = {
  messages: [{ codigo: '1209', valor: 'Este número de secuencia ya ha sido utilizado.' }],
  sequenceUsed: false,
};
export const TRANSIENT = {
  messages: [{ codigo: '004', valor: 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.' }],
  sequenceUsed: false,
};

export function unknown(reachedAuthority: 'no' | 'maybe', retryAfterMs?: number): Answer<never> {
  return {
    outcome: 'unknown',
    cause: reachedAuthority === 'no' ? 'connection' : 'timeout',
    reachedAuthority,
    detail: 'test',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    raw: null,
  };
}

export const UNAUTHORIZED: Answer<never> = { outcome: 'unauthorized', raw: null };
export const NO_SERVICE: Answer<never> = {
  outcome: 'refused',
  code: 'service_not_in_environment',
  reason: 'test',
  raw: null,
};

export function trackIds(...entries: [string, TrackIdEntry['status']][]): Answer<TrackIdList> {
  return verdict({
    found: entries.length > 0,
    trackIds: entries.map(([trackId, status]) => ({ trackId, status, dateReceived: null })),
  });
}

export function documentState(status: DocumentState['status'], securityCode: string | null): Answer<DocumentState> {
  return verdict({
    status,
    code: '1',
    issuerRnc: null,
    encf: null,
    buyerRnc: null,
    foreignId: null,
    totalAmount: null,
    totalItbis: null,
    dateIssued: null,
    dateSigned: null,
    securityCode,
  });
}
