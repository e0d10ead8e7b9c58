import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import {
  type BatchDone,
  documentKey,
  type InvoiceChanged,
  invoiceChangedSchema,
  type ReceivedInvoiceChanged,
  receivedInvoiceChangedSchema,
  type TaxpayerState,
  TOPICS,
} from '@ecf/contracts';
import { EMISSION_STATES, type EmissionState, toIsoDominican } from '@ecf/domain';

export const ACCOUNT = 'account-1';
export const OTHER_ACCOUNT = 'account-2';
export const ISSUER = '199999991';
export const OTHER_ISSUER = '131880681';
export const FOREIGN_ISSUER = '101010101';
export const BUYER = '188888885';

export function encf(type: string, sequence: number): string {
  return `E${type}${String(sequence).padStart(10, '0')}`;
}

/** An issued document in an event of emission; fields that depend on `state` follow it unless given. */
export function invoice(change: Partial<InvoiceChanged> & { sequence?: number } = {}): InvoiceChanged {
  const { sequence = 1, ...given } = change;
  const type = given.ecf_type ?? '31';
  const state = (given.state ?? 'accepted') as EmissionState;
  const facts = EMISSION_STATES[state];
  const status = given.status ?? facts.status;
  const number = given.encf ?? encf(type, sequence);
  const issuer = given.issuer_rnc ?? ISSUER;
  const env = given.env ?? 'TesteCF';
  const trackId =
    given.track_id === undefined ? `00000000-0000-4000-8000-${String(sequence).padStart(12, '0')}` : given.track_id;
  const verdict = { code: facts.decided ? '1' : '3', messages: [], sequence_used: facts.sequenceUsed };
  return invoiceChangedSchema.parse({
    id: sequence,
    env,
    issuer_rnc: issuer,
    encf: number,
    account_id: ACCOUNT,
    revision: 1,
    ecf_type: type,
    route: 'ecf',
    state,
    status,
    final: facts.decided,
    ...verdict,
    track_id: trackId,
    issuer_name: 'Emisor de prueba',
    buyer_rnc: BUYER,
    buyer_name: 'Comprador de prueba',
    date_issued: '2026-06-15',
    created_at: '2026-06-15T10:00:00-04:00',
    signed_at: '2026-06-15T10:00:00-04:00',
    total_amount: '118.00',
    total_itbis: '18.00',
    modified_encf: null,
    security_code: 'aB+/9z',
    qr_url: `https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=${issuer}&ENCF=${number}`,
    xml_storage_path: `${env}/ecf/${issuer}/issued/2026/06/${issuer}${number}-000000000000.xml`,
    xml_checksum: '0'.repeat(64),
    rfce_storage_path: null,
    rfce_checksum: null,
    attempts:
      state === 'withdrawn'
        ? []
        : [
            {
              attempt: 1,
              track_id: trackId,
              submitted_at: '2026-06-15T10:00:00-04:00',
              status,
              ...verdict,
              date_received: '2026-06-15T10:00:01-04:00',
              final: facts.decided,
            },
          ],
    ...given,
  });
}

export function received(change: Partial<ReceivedInvoiceChanged> & { sequence?: number } = {}): ReceivedInvoiceChanged {
  const { sequence = 1, ...given } = change;
  const number = given.encf ?? encf('31', sequence);
  const issuer = given.issuer_rnc ?? FOREIGN_ISSUER;
  return receivedInvoiceChangedSchema.parse({
    id: sequence,
    env: 'TesteCF',
    issuer_rnc: issuer,
    encf: number,
    buyer_rnc: ISSUER,
    account_id: ACCOUNT,
    revision: 1,
    ecf_type: '31',
    issuer_name: 'Proveedor',
    buyer_name: null,
    date_received: '2026-06-15T10:00:00-04:00',
    date_issued: '2026-06-15',
    total_amount: '118.00',
    total_itbis: '18.00',
    modified_encf: null,
    signature_datetime: null,
    xml_storage_path: `TesteCF/ecf/${ISSUER}/received/2026/06/${issuer}${number}-000000000000.xml`,
    xml_checksum: '0'.repeat(64),
    arecf_storage_path: 'a.xml',
    arecf_checksum: '1'.repeat(64),
    acknowledged_at: '2026-06-15T10:00:00-04:00',
    certificate_subject: 'CN=Proveedor',
    approval_status: 'pending',
    approval_datetime: null,
    observations: [],
    conflicts: [],
    ...given,
  });
}

let revision = 0;

/** A taxpayer with a higher revision than all before. */
export function taxpayer(change: Partial<TaxpayerState> = {}): TaxpayerState {
  revision += 1;
  return {
    rnc: ISSUER,
    account_id: ACCOUNT,
    account_active: true,
    revision,
    previous_revision: 0,
    name: 'Contribuyente',
    active: true,
    certificate: null,
    fingerprint: null,
    ranges: [],
    created_at: toIsoDominican(new Date('2026-01-01T12:00:00Z')),
    ...change,
  };
}

export const invoiceEvent = (data: InvoiceChanged): BusEvent =>
  event(TOPICS.invoices.name, 'invoice.changed', documentKey(data), data);
/** At its arrival, or at a later change. */
export const receivedEvent = (data: ReceivedInvoiceChanged, time = new Date(data.date_received)): BusEvent =>
  event(TOPICS.receivedInvoices.name, 'received_invoice.changed', documentKey(data), data, time);
export const taxpayerEvent = (data: TaxpayerState): BusEvent =>
  event(TOPICS.taxpayers.name, 'taxpayer.changed', data.rnc, data);

export function event(topic: string, type: string, key: string, data: unknown, time = new Date()): BusEvent {
  return makeEvent({ topic, type, source: 'test', subject: key, key, data }, { id: randomUUID(), time });
}

/** The end of a batch of two documents. */
export const batchDone = (id: string, change: Partial<BatchDone> = {}) => {
  const data: BatchDone = {
    env: 'TesteCF',
    account_id: ACCOUNT,
    taxpayers: null,
    issuer_rnc: ISSUER,
    batch: {
      batch_id: id,
      status: 'done',
      validate: false,
      total: 2,
      pending: 0,
      accepted: 1,
      conditional: 0,
      rejected: 1,
      in_process: 0,
      refused: 0,
      created_at: '2026-06-15T10:00:00-04:00',
      finished_at: '2026-06-15T10:00:05-04:00',
    },
    ...change,
  };
  return { ...event(TOPICS.batches.name, 'batch.done', id, data), data };
};
