/** What the public interface calls the state of an invoice. */
export type InvoiceStatus = 'Aceptado' | 'AceptadoCondicional' | 'Rechazado' | 'EnProceso' | 'No encontrado';

export const INVOICE_STATUSES = ['Aceptado', 'AceptadoCondicional', 'Rechazado', 'EnProceso', 'No encontrado'] as const;

export type EmissionState =
  | 'committed'
  | 'held'
  | 'sending'
  | 'unknown'
  | 'resend-due'
  | 'resending'
  | 'arrived'
  | 'processing'
  | 'not-found'
  | 'accepted'
  | 'conditional'
  | 'rejected-reusable'
  | 'rejected-used'
  | 'withdrawn';

export type EmissionEvent =
  | 'hold'
  | 'release'
  | 'send'
  | 'not-reached'
  | 'unauthorized'
  | 'outcome-unknown'
  | 'cleared-to-resend'
  | 'try-again'
  | 'refused-as-repeat'
  | 'in-process'
  | 'not-found'
  | 'accepted'
  | 'accepted-conditionally'
  | 'rejected-reusable'
  | 'rejected-used'
  | 'withdraw'
  | 'new-attempt';
