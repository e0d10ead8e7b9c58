import type { InvoiceStatus } from '../lifecycle.js';

/** Services of the authority, by the names of their addresses. */
export type AuthorityService =
  | 'autenticacion'
  | 'recepcion'
  | 'recepcionfc'
  | 'consultaresultado'
  | 'consultaestado'
  | 'consultatrackids'
  | 'consultarfce'
  | 'aprobacioncomercial'
  | 'anulacionrangos'
  | 'consultadirectorio'
  | 'consultatimbre'
  | 'estatusservicios';

/** A message of the authority, its meaning and its effect. */
export interface AuthorityMessageEntry {
  /** Message code, null for texts that come without one. No official list of codes is published: all are observed. */
  code: string | null;
  /** Literal text, `{x}` where it varies; empty if the authority sends none. */
  text: string;
  services: readonly AuthorityService[];
  /** State of the document the message comes with; null if the message is about no document. */
  status: InvoiceStatus | null;
  /** `secuenciaUtilizada` that came with it; null if none is known. */
  sequenceUsed: boolean | null;
  /** The same request may succeed later without a change. */
  transient: boolean;
  meaning: string;
  /** `official`: the text is published; `observed`: it was seen in answers. */
  source: 'official' | 'observed';
}
