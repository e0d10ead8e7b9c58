/** The authority's words, compared without accents, case, dots and blanks: the live service varies them all. */
import { type InvoiceStatus, storableText, withoutAccents } from '@ecf/domain';
import { type AnswerValue, isFields, textField, textOf } from './answer-value.js';

/** `Aprobación Comercial Aprobada.` and `aprobacion comercial aprobada` are the same. */
export function fold(text: string): string {
  return withoutAccents(text)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

const STATUS_BY_CODE: Record<string, InvoiceStatus> = {
  '0': 'No encontrado',
  '1': 'Aceptado',
  '2': 'Rechazado',
  '3': 'EnProceso',
  '4': 'AceptadoCondicional',
};

const STATUS_BY_WORD: Record<string, InvoiceStatus> = {
  'no encontrado': 'No encontrado',
  'trackid no encontrado': 'No encontrado',
  aceptado: 'Aceptado',
  rechazado: 'Rechazado',
  'en proceso': 'EnProceso',
  enproceso: 'EnProceso',
  'aceptado condicional': 'AceptadoCondicional',
  aceptadocondicional: 'AceptadoCondicional',
};

/** The state that a word of the authority means; null for any other text. */
export function statusOfWord(estado: string | null): InvoiceStatus | null {
  return estado === null ? null : (STATUS_BY_WORD[fold(estado)] ?? null);
}

/** A state code without leading zeros (`01` and `1` are the same). */
export function plainCode(codigo: string): string {
  return codigo.trim().replace(/^0+(\d)/, '$1');
}

/**
 * State from code and word together; null if one is missing, unknown, or says something else than the other.
 * Only the two kinds of acceptance may differ: the conditional one counts then.
 */
export function statusOf(codigo: string | null, estado: string | null): { status: InvoiceStatus; code: string } | null {
  const word = statusOfWord(estado);
  const code = codigo === null ? null : plainCode(codigo);
  const byCode = code === null ? undefined : STATUS_BY_CODE[code];
  if (!word || !byCode || code === null) return null;
  if (word === byCode) return { status: word, code };
  const accepted = [word, byCode].every((status) => status === 'Aceptado' || status === 'AceptadoCondicional');
  return accepted ? { status: 'AceptadoCondicional', code: '4' } : null;
}

/** Texts of queries that the authority will not answer (contract sections 7 and 8). */
const REFUSED_QUERIES: readonly RegExp[] = [
  /^el campo rnc emisor es requerido/,
  /^el campo encf es requerido/,
  /^la longitud del rnc emisor es invalida/,
  /^la longitud del encf es invalida/,
  /^el encf es invalido/,
  /^el rnc del token no esta autorizado/,
  /^el rnc (\S+ )?del certificado no esta delegado/,
  /^para consultar el estado de esta factura es necesario completar/,
];

/** The authority's reason for not answering a query, or null. */
export function refusedQuery(value: AnswerValue | undefined, text: string): string | null {
  const reason = plainReason(value, text);
  return reason !== null && REFUSED_QUERIES.some((pattern) => pattern.test(fold(reason))) ? reason : null;
}

const REASON_FIELDS = ['mensaje', 'message', 'error', 'detail', 'estado', 'title'];
const MAX_REASON = 500;

/**
 * The single text of an answer without the documented shape, as a database can store it. It is a bare JSON string, a
 * `<string>`, a field that names the reason, or plain text. Null for markup and for longer texts.
 */
export function plainReason(value: AnswerValue | undefined, text: string): string | null {
  let reason = value === undefined && !text.trim().startsWith('<') ? text.trim() : textOf(value);
  if (isFields(value)) {
    const name = REASON_FIELDS.find((candidate) => textField(value, candidate) !== null);
    reason = name === undefined ? null : textField(value, name);
  }
  return reason === null || reason === '' || reason.length > MAX_REASON ? null : storableText(reason);
}
