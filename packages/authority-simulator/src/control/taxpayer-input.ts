import { ECF_TYPES, ENVIRONMENTS, formatDocumentDate, isRnc, parseDocumentDate } from '@ecf/domain';
import type { NumberRange, TaxpayerEntry } from '../ledger/taxpayers.js';
import { ControlRefused, flag, type JsonObject, list, oneOf, onlyMembers, readObject, text } from './input.js';

const ADDRESSES = ['reception_url', 'approval_url', 'authentication_url'] as const;
const MEMBERS = ['rnc', 'name', 'active', 'electronic', 'ranges', 'delegates', ...ADDRESSES];

/**
 * A taxpayer as the control interface takes it.
 *
 * @throws ControlRefused with a sentence
 */
export function readTaxpayer(rnc: string, body: Buffer): TaxpayerEntry {
  return taxpayerOf(rnc, readObject(body, MEMBERS));
}

/** A taxpayer in settings and the control interface; omitted fields have the defaults of an unknown one. */
export function taxpayerOf(rnc: string, object: JsonObject): TaxpayerEntry {
  const input = onlyMembers(object, MEMBERS, 'A taxpayer');
  if (!isRnc(rnc)) throw new ControlRefused('The RNC has to be 9 or 11 digits.');
  if (input.rnc !== undefined && input.rnc !== rnc) throw new ControlRefused('rnc is not the one of the address.');
  const [reception_url, approval_url, authentication_url] = ADDRESSES.map((name) => address(input, name));
  return {
    rnc,
    name: text(input, 'name') ?? '',
    active: flag(input, 'active') ?? true,
    electronic: flag(input, 'electronic') ?? true,
    ranges: list(input, 'ranges')?.map(rangeOf) ?? null,
    delegates: list(input, 'delegates')?.map(delegateOf) ?? null,
    reception_url: reception_url ?? null,
    approval_url: approval_url ?? null,
    authentication_url: authentication_url ?? null,
  };
}

function address(input: JsonObject, name: string): string | null {
  const value = text(input, name);
  if (value === null || value === '') return null;
  if (URL.canParse(value) && /^https?:/i.test(value)) return value;
  throw new ControlRefused(`${name} has to be an address that begins with http:// or https://.`);
}

function delegateOf(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value.replace(/^[A-Z]+-/, '');
  throw new ControlRefused('delegates has to be a list of RNC, cédula or passport numbers.');
}

/** `{env?, ecf_type, from, to, expires?}`; from and to are eNCF or sequence numbers. */
function rangeOf(value: unknown): NumberRange {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ControlRefused('ranges has to be a list of {env, ecf_type, from, to, expires}.');
  }
  const input = onlyMembers(value as JsonObject, ['env', 'ecf_type', 'from', 'to', 'expires'], 'A range');
  const ecf_type = oneOf({ ecf_type: String(input.ecf_type) }, 'ecf_type', ECF_TYPES);
  const env = input.env === undefined || input.env === null ? null : oneOf(input, 'env', ENVIRONMENTS);
  const [from, to] = [sequence(input.from, ecf_type, 'from'), sequence(input.to, ecf_type, 'to')];
  if (from > to) throw new ControlRefused('from of a range has to be at most its to.');
  return { env, ecf_type, from, to, expires: expiry(text(input, 'expires')) };
}

function sequence(value: unknown, type: string, name: string): number {
  const given = typeof value === 'number' ? String(value) : value;
  const match = typeof given === 'string' ? /^(?:E([0-9]{2})([0-9]{10})|([0-9]{1,10}))$/i.exec(given) : null;
  const number = Number(match?.[2] ?? match?.[3] ?? 0);
  if (match && number > 0 && (match[1] === undefined || match[1] === type)) return number;
  throw new ControlRefused(`${name} of a range has to be an eNCF of its type or a number from 1 to 9999999999.`);
}

/** `DD-MM-YYYY` or `YYYY-MM-DD`. */
function expiry(value: string | null): string | null {
  if (value === null || value === '') return null;
  const [year, month, day] = value.split('-');
  const date = parseDocumentDate(value) ?? parseDocumentDate(`${day}-${month}-${year}`);
  if (date) return formatDocumentDate(date);
  throw new ControlRefused('expires of a range has to be a date, DD-MM-YYYY or YYYY-MM-DD.');
}
