import { DOCUMENT_MESSAGES } from './authority/document-messages.js';
import type { AuthorityMessageEntry, AuthorityService } from './authority/message-entry.js';
import { SERVICE_MESSAGES } from './authority/service-messages.js';
import type { InvoiceStatus } from './lifecycle.js';
import { withoutAccents } from './text/without-accents.js';

/** A state of a document at the authority. */
export interface AuthorityState {
  /** `codigo` of the answer; the services send it as number or text. */
  code: string;
  /** `estado` of the answer, literally. */
  word: string;
  status: InvoiceStatus;
  meaning: string;
  services: readonly AuthorityService[];
}

/** States of a document. Source: Descripción Técnica v1.6 pp.13-15, 18, 20, 24. */
export const AUTHORITY_STATES: readonly AuthorityState[] = [
  {
    code: '0',
    word: 'No encontrado',
    status: 'No encontrado',
    meaning: 'the trackId or document is unknown to the authority',
    services: ['consultaresultado', 'consultaestado', 'consultatrackids', 'consultarfce'],
  },
  {
    code: '1',
    word: 'Aceptado',
    status: 'Aceptado',
    meaning: 'valid',
    services: ['consultaresultado', 'recepcionfc', 'consultaestado', 'consultatrackids', 'consultarfce'],
  },
  {
    code: '2',
    word: 'Rechazado',
    status: 'Rechazado',
    meaning: 'null for tax purposes; secuenciaUtilizada says whether the number is spent',
    services: ['consultaresultado', 'recepcionfc', 'consultaestado', 'consultatrackids', 'consultarfce'],
  },
  {
    code: '3',
    word: 'En Proceso',
    status: 'EnProceso',
    meaning: 'received, not validated yet',
    services: ['consultaresultado', 'consultatrackids'],
  },
  {
    code: '4',
    word: 'Aceptado Condicional',
    status: 'AceptadoCondicional',
    meaning:
      'valid, with observations to heed in future documents; consultaestado shows it for consumer summaries only',
    services: ['consultaresultado', 'recepcionfc', 'consultatrackids', 'consultarfce', 'consultaestado'],
  },
];

/** The authority's code of a status. */
export function codeOfStatus(status: InvoiceStatus): string {
  return AUTHORITY_STATES.find((state) => state.status === status)!.code;
}

/** Every message known. */
export const AUTHORITY_MESSAGES: readonly AuthorityMessageEntry[] = [...DOCUMENT_MESSAGES, ...SERVICE_MESSAGES];

/**
 * The public status of a state in an answer. Its word decides, in any case and without accents and blanks; without a word
 * its code. Null if neither is known, which is not a verdict.
 */
export function statusOf(code: string | number | null, word: string | null): InvoiceStatus | null {
  const plain = word === null ? '' : letters(word);
  const state =
    AUTHORITY_STATES.find((entry) => letters(entry.word) === plain) ??
    AUTHORITY_STATES.find((entry) => plain === '' && entry.code === normalCode(code));
  return state?.status ?? null;
}

/** The entries for a message as it came: those of its code whose text fits best, all of its code when none fits. */
export function meaningsOf(code: string | number, text: string): readonly AuthorityMessageEntry[] {
  const wanted = letters(text);
  const sameText = AUTHORITY_MESSAGES.filter((entry) => entry.text !== '' && fits(entry.text, wanted));
  const sameCode = AUTHORITY_MESSAGES.filter((entry) => entry.code === String(code).trim());
  const both = sameCode.filter((entry) => sameText.includes(entry));
  if (both.length > 0) return both;
  // Code 0 represents any message, so it has no meaning alone.
  return normalCode(code) === '0' || sameCode.length === 0 ? sameText : sameCode;
}

function normalCode(code: string | number | null): string | null {
  return code === null
    ? null
    : String(code)
        .trim()
        .replace(/^0+([0-9])/, '$1');
}

/** Letters from which on a known text may stand inside another: some were seen as fragments only. */
const FRAGMENT = 20;

/** Whether a text begins like the fixed part of a known one, or holds a long one. */
function fits(known: string, wanted: string): boolean {
  const fixed = letters(known.split('{')[0]!);
  return fixed.length > 0 && (wanted.startsWith(fixed) || (fixed.length >= FRAGMENT && wanted.includes(fixed)));
}

/** Letters and digits only, lower case, without accents. */
function letters(text: string): string {
  return withoutAccents(text)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}
