import type { EmissionEvent, InvoiceStatus } from './lifecycle.js';
import { withoutAccents } from './text/without-accents.js';

/** A message of the authority as it came, code as text. */
export interface AuthorityMessage {
  codigo: string;
  valor: string;
}

/** The part of a verdict that decides about the number. */
export interface NumberVerdict {
  status: InvoiceStatus;
  /**
   * `secuenciaUtilizada`: true the number is spent, false it may be reused, null the authority does not say. Only a
   * rejection gives it meaning.
   */
  sequenceUsed: boolean | null;
  messages: readonly AuthorityMessage[];
}

/**
 * Whether another document may use the number of a verdict. The document must be rejected with the number declared unused. A
 * rejection because an earlier submission has the number, or its pair with the security code, never frees it, whatever the
 * flag says. Source: Descripción Técnica v1.6 pp.16, 19-20; observed: 1209 comes with secuenciaUtilizada false.
 */
export function isNumberReusable(verdict: NumberVerdict): boolean {
  return verdict.status === 'Rechazado' && verdict.sequenceUsed === false && !isRefusedAsRepeat(verdict);
}

/** Whether the authority refused because the number, or number and security code, had been used before. */
export function isRefusedAsRepeat(verdict: Pick<NumberVerdict, 'status' | 'messages'>): boolean {
  return verdict.status === 'Rechazado' && verdict.messages.some(reportsRepeat);
}

/**
 * Whether the refusal is the authority's own temporary failure (004): the same bytes are sent again, and the number is
 * unused.
 */
export function isTransientRefusal(verdict: Pick<NumberVerdict, 'status' | 'messages'>): boolean {
  return verdict.status === 'Rechazado' && verdict.messages.some(reportsTemporaryFailure);
}

/**
 * The life-cycle event of a verdict. `resent` means that the same bytes were sent before with unknown outcome. Then "already
 * used" is about our own earlier copy and is not a verdict on the document. `mayTryAgain` is false after the last try after
 * 004: then a resent document is looked up, and any other is rejected. `rejectedBefore` means that our earlier attempt with
 * the same security code was rejected with the number reusable: then "the combination was used" is about that attempt, and a new
 * signature, which makes another combination, may use the number.
 */
export function verdictEvent(
  verdict: NumberVerdict,
  { resent, mayTryAgain, rejectedBefore = false }: { resent: boolean; mayTryAgain: boolean; rejectedBefore?: boolean },
): EmissionEvent {
  switch (verdict.status) {
    case 'Aceptado':
      return 'accepted';
    case 'AceptadoCondicional':
      return 'accepted-conditionally';
    case 'EnProceso':
      return 'in-process';
    case 'No encontrado':
      return 'not-found';
    case 'Rechazado':
      if (resent && isRefusedAsRepeat(verdict)) return 'refused-as-repeat';
      if (isTransientRefusal(verdict)) {
        if (mayTryAgain) return 'try-again';
        if (resent) return 'outcome-unknown';
      }
      if (rejectedBefore && isCombinationUsed(verdict)) return 'rejected-reusable';
      return isNumberReusable(verdict) ? 'rejected-reusable' : 'rejected-used';
  }
}

/** Whether the authority refused a summary because its number and security code had been sent before, and for no other repeat. */
export function isCombinationUsed(verdict: Pick<NumberVerdict, 'status' | 'messages'>): boolean {
  const repeats = verdict.messages.filter(reportsRepeat);
  const ofCombination = repeats.filter(({ valor }) => COMBINATION_TEXT.test(plain(valor)));
  return verdict.status === 'Rechazado' && repeats.length > 0 && ofCombination.length === repeats.length;
}

function reportsRepeat(message: AuthorityMessage): boolean {
  if (message.codigo.trim() === '1209') return true;
  const text = plain(message.valor);
  return REPEAT_TEXTS.some((pattern) => pattern.test(text));
}

function reportsTemporaryFailure(message: AuthorityMessage): boolean {
  return message.codigo.trim() === '004' || plain(message.valor).startsWith('ha ocurrido un error validando en ecf');
}

const COMBINATION_TEXT = /^la combinacion e-?ncf y codigo de seguridad ya han? sido utilizad/;
const REPEAT_TEXTS = [/^este numero de secuencia ya ha sido utilizado/, COMBINATION_TEXT];

/** Lower case, without accents, single blanks: the authority is not consistent in any of them. */
function plain(text: string): string {
  return withoutAccents(text).toLowerCase().replace(/\s+/g, ' ').trim();
}
