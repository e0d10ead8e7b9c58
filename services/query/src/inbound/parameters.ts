import type { IncomingHttpHeaders } from 'node:http';
import type { ValidationItem } from '@ecf/contracts';
import { type CalendarDate, isEncf, isRnc, parseDocumentDate } from '@ecf/domain';
import { InvalidRequest } from '@ecf/service-kit';
import type { Request } from 'express';

const DAY = /^\d{2}-\d{2}-\d{4}$/;
const SHA256 = /^[0-9a-fA-F]{64}$/;
const MOST_ROWS = 2_147_483_647;

/** Reads the parameters of a request and remembers everything that is wrong with them, to say it at once. */
export class Parameters {
  readonly #problems: ValidationItem[] = [];

  constructor(private readonly req: Request) {}

  /** Throws 422 with all that was found. */
  check(): void {
    if (this.#problems.length > 0) throw new InvalidRequest(this.#problems);
  }

  /** The required header `rnc-issuing`. */
  issuerHeader(): string {
    const name = 'rnc-issuing';
    const text = headerText(this.req.headers, name);
    if (text === null) return this.#missing(['header', name]);
    return isRnc(text) ? text : this.#wrong(['header', name], 'an RNC has 9 or 11 digits', 'rnc');
  }

  /** The required headers `start-date` and `end-date`, `DD-MM-YYYY`. */
  period(): { first: CalendarDate; last: CalendarDate } {
    const [first, last] = [this.#day('start-date'), this.#day('end-date')];
    if (first !== '' && last !== '' && first > last)
      this.#wrong(['header', 'end-date'], 'end-date is before start-date', 'date_range');
    return { first, last };
  }

  /** `limit` 1 to 1000, default 200; `offset` from 0, default 0. */
  page(): { limit: number; offset: number } {
    return { limit: this.integer('limit', 1, 1_000, 200), offset: this.integer('offset', 0, MOST_ROWS, 0) };
  }

  /** A whole number of the query. */
  integer(name: string, least: number, most: number, preset: number): number {
    const text = this.#query(name);
    if (text === null) return preset;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    this.#wrong(['query', name], `${name} is a whole number from ${least} to ${most}`, 'integer');
    return preset;
  }

  /** The path's eNCF in upper case. */
  encf(): string {
    return this.#encf(String(this.req.params.encf ?? ''), ['path', 'encf']);
  }

  /** A required eNCF of a consumer invoice in the query. */
  consumerEncf(): string {
    const text = this.#query('encf');
    if (text === null) return this.#missing(['query', 'encf']);
    const encf = this.#encf(text, ['query', 'encf']);
    if (encf === '' || encf.startsWith('E32')) return encf;
    return this.#wrong(['query', 'encf'], 'a consumer invoice has type 32, its eNCF begins with E32', 'ecf_type');
  }

  /** The path's RNC. */
  pathRnc(): string {
    const text = String(this.req.params.rnc ?? '');
    return isRnc(text) ? text : this.#wrong(['path', 'rnc'], 'an RNC has 9 or 11 digits', 'rnc');
  }

  requiredRnc(name: string): string {
    return this.#query(name) === null ? this.#missing(['query', name]) : (this.optionalRnc(name) ?? '');
  }

  optionalRnc(name: string): string | null {
    const text = this.#query(name);
    if (text === null) return null;
    return isRnc(text) ? text : this.#wrong(['query', name], 'an RNC has 9 or 11 digits', 'rnc');
  }

  /** Six characters of base64; a plus sign that came unescaped arrives as a blank. */
  securityCode(): string {
    const name = 'security_code';
    const text = this.#query(name);
    if (text === null) return this.#missing(['query', name]);
    const code = text.replaceAll(' ', '+');
    return /^[\x21-\x7e]{1,64}$/.test(code)
      ? code
      : this.#wrong(
          ['query', name],
          'the security code is the six characters printed under the QR code',
          'security_code',
        );
  }

  optionalSha256(): string | null {
    const text = this.#query('sha256');
    if (text === null) return null;
    return SHA256.test(text)
      ? text.toLowerCase()
      : this.#wrong(['query', 'sha256'], 'SHA-256 has 64 hex digits', 'sha256');
  }

  /** Which document of a number: `ecf` (default) or `rfce`. */
  document(): 'ecf' | 'rfce' {
    const text = this.#query('document')?.toLowerCase() ?? 'ecf';
    if (text === 'ecf' || text === 'rfce') return text;
    this.#wrong(['query', 'document'], 'document is ecf or rfce', 'enum');
    return 'ecf';
  }

  #day(name: string): CalendarDate {
    const text = headerText(this.req.headers, name);
    if (text === null) return this.#missing(['header', name]);
    const day = DAY.test(text) ? parseDocumentDate(text) : null;
    return day ?? this.#wrong(['header', name], 'a day is written DD-MM-YYYY and has to exist', 'date');
  }

  #encf(text: string, loc: string[]): string {
    const encf = text.toUpperCase();
    return isEncf(encf) ? encf : this.#wrong(loc, 'an eNCF is E and 12 digits', 'encf');
  }

  /** A parameter given twice counts as malformed. */
  #query(name: string): string | null {
    const value = this.req.query[name];
    if (value === undefined || value === '') return null;
    return typeof value === 'string' ? value : '\u0000';
  }

  #missing(loc: string[]): string {
    this.#problems.push({ loc, msg: `${loc[1]} is required`, type: 'missing' });
    return '';
  }

  #wrong(loc: string[], msg: string, type: string): string {
    this.#problems.push({ loc, msg, type });
    return '';
  }
}

function headerText(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  const text = (Array.isArray(value) ? value.join(',') : (value ?? '')).trim();
  return text === '' ? null : text;
}
