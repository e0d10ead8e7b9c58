import { areDigits } from './text/digits.js';

/** The ten types of e-CF. Source: Formato ANECF v1.0 p.6. */
export const ECF_TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] as const;

export type EcfType = (typeof ECF_TYPES)[number];

const TYPES: ReadonlySet<string> = new Set(ECF_TYPES);

/** Whether the value is one of the ten types, as its two digits. */
export function isEcfType(value: unknown): value is EcfType {
  return typeof value === 'string' && TYPES.has(value);
}

/** Whether the text has the shape of an RNC (9 digits) or cédula (11 digits), check digit not considered. */
export function isRnc(text: string): boolean {
  return (text.length === 9 || text.length === 11) && areDigits(text, 0, text.length);
}

/** Whether the text is an eNCF as documents must carry it: `E` and twelve digits. Source: Formato e-CF v1.0 p.6. */
export function isEncf(text: string): boolean {
  return text.length === 13 && text.charCodeAt(0) === LETTER_E && areDigits(text, 1, 13);
}

/**
 * Whether an acknowledgement can quote the text as an eNCF: 13, 11 or 9 letters and digits, as its schema has it. The schema
 * of an e-CF takes any 13; a text that {@link isEncf} refuses is a business fault.
 */
export function isQuotableEncf(text: string): boolean {
  return /^(?:[A-Za-z0-9]{13}|[A-Za-z0-9]{11}|[A-Za-z0-9]{9})$/.test(text);
}

/** The type inside an eNCF, or null when the text is not an eNCF or names no known type. */
export function encfType(encf: string): EcfType | null {
  if (!isEncf(encf)) return null;
  const type = encf.slice(1, 3);
  return isEcfType(type) ? type : null;
}

/** The ten-digit sequence of an eNCF as a number (0 to 9,999,999,999), or null when the text is not an eNCF. */
export function encfSequence(encf: string): number | null {
  return isEncf(encf) ? Number(encf.slice(3)) : null;
}

const LETTER_E = 69;

const RNC_WEIGHTS = [7, 9, 8, 6, 5, 4, 3, 2];

/**
 * Whether the last digit of an RNC or cédula is the check digit of the others.
 * The authority has issued numbers that fail this, so a mismatch is a reason to warn, never to refuse.
 */
export function hasCheckDigit(rnc: string): boolean {
  if (!isRnc(rnc)) return false;
  return rnc.length === 9 ? rncCheckDigit(rnc) === digit(rnc, 8) : cedulaCheckDigit(rnc) === digit(rnc, 10);
}

/** Check digit of the first eight digits: weighted sum modulo 11. */
function rncCheckDigit(rnc: string): number {
  let sum = 0;
  for (let index = 0; index < 8; index++) sum += RNC_WEIGHTS[index]! * digit(rnc, index);
  const rest = sum % 11;
  return rest === 0 ? 2 : rest === 1 ? 1 : 11 - rest;
}

/** Check digit of the first ten digits: Luhn with weights 1, 2, 1, 2 ... */
function cedulaCheckDigit(cedula: string): number {
  let sum = 0;
  for (let index = 0; index < 10; index++) {
    const product = digit(cedula, index) * (index % 2 === 0 ? 1 : 2);
    sum += product > 9 ? product - 9 : product;
  }
  return (10 - (sum % 10)) % 10;
}

function digit(text: string, index: number): number {
  return text.charCodeAt(index) - 48;
}
