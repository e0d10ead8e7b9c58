import type { ValidationItem } from '@ecf/contracts';
import { type CalendarDate, isEncf, isRnc, parseDocumentDate } from '@ecf/domain';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { Request } from 'express';

const DAY = /^\d{2}-\d{2}-\d{4}$/;

/** More rows than any list has, and a number that the database still accepts. */
const MOST_ROWS = 2_147_483_647;

/**
 * Reads the parameters of a request and collects all faults, to report them together. A service reads its special parameters
 * in a subclass.
 */
export class RequestParameters {
  readonly #problems: ValidationItem[] = [];

  constructor(protected readonly req: Request) {}

  /** Throws 422 with all that was found. */
  check(): void {
    if (this.#problems.length > 0) throw new InvalidRequest(this.#problems);
  }

  /** A required RNC of the query. */
  rnc(name: string): string {
    return this.optionalRnc(name) ?? this.missing(['query', name]);
  }

  /** An RNC of the query. */
  optionalRnc(name: string): string | null {
    return this.#rnc(['query', name], this.query(name));
  }

  /** A required header with an RNC. */
  headerRnc(name: string): string {
    return this.optionalHeaderRnc(name) ?? this.missing(['header', name]);
  }

  optionalHeaderRnc(name: string): string | null {
    return this.#rnc(['header', name], this.header(name));
  }

  /**
   * The required headers `start-date` and `end-date`, `DD-MM-YYYY`.
   * @param reversed what days at odds are: parameters that cannot be (400), or the fault of one of them (422)
   */
  period(reversed: 400 | 422 = 422): { first: CalendarDate; last: CalendarDate } {
    const [first, last] = [this.#day('start-date'), this.#day('end-date')];
    if (first === '' || last === '' || first <= last) return { first, last };
    const message = 'end-date is before start-date';
    if (reversed === 400 && this.#problems.length === 0)
      throw new ApiError(400, 'invalid_parameters', `${message}; swap them.`);
    this.wrong(['header', 'end-date'], message, 'date_range');
    return { first, last };
  }

  /** `limit` from 1, at most 100 and 10 by default; `offset` from 0, however large, default 0. */
  page(most = 100, preset = 10): { limit: number; offset: number } {
    return { limit: this.integer('limit', 1, most, preset), offset: this.#offset() };
  }

  /** `after`, the `next` of the page before; null on the first page. `limit` from 1 to 1,000, default 200. */
  pageAfter(): { after: number | null; limit: number } {
    const text = this.query('after');
    const limit = this.integer('limit', 1, 1_000, 200);
    if (text === null) return { after: null, limit };
    if (!/^\d{1,15}$/.test(text)) this.wrong(['query', 'after'], 'after is `next` of the page before', 'cursor');
    return { after: Number(text), limit };
  }

  #offset(): number {
    const text = this.query('offset');
    if (text === null) return 0;
    if (/^\d+$/.test(text)) return Math.min(Number(text), MOST_ROWS);
    this.wrong(['query', 'offset'], 'offset is a whole number from 0', 'integer');
    return 0;
  }

  /** A whole number of the query. */
  integer(name: string, least: number, most: number, preset: number): number {
    const text = this.query(name);
    if (text === null) return preset;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    this.wrong(['query', name], `${name} is a whole number from ${least} to ${most}`, 'integer');
    return preset;
  }

  /** `true` or `false` of the query, in any case, or 1 or 0. A name without a value is at fault: its caller meant something. */
  flag(name: string, preset: boolean): boolean {
    if (this.req.query[name] === undefined) return preset;
    const text = this.query(name)?.toLowerCase();
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    this.wrong(['query', name], `${name} is true or false`, 'boolean');
    return preset;
  }

  /** The path's id, a whole number. */
  id(name: string): number {
    const text = String(this.req.params[name] ?? '');
    if (/^\d{1,15}$/.test(text)) return Number(text);
    this.wrong(['path', name], `${name} is a whole number`, 'integer');
    return 0;
  }

  /** An eNCF of the query, in upper case. */
  optionalEncf(name: string): string | null {
    const text = this.query(name);
    return text === null ? null : this.numberIn(['query', name], text);
  }

  /** The path's eNCF in upper case. */
  encf(): string {
    return this.numberIn(['path', 'encf'], String(this.req.params.encf ?? ''));
  }

  /** An eNCF in upper case. */
  protected numberIn(loc: string[], text: string): string {
    const encf = text.toUpperCase();
    return isEncf(encf) ? encf : this.wrong(loc, 'an eNCF is E and 12 digits', 'encf');
  }

  /** A parameter given twice counts as malformed. */
  protected query(name: string): string | null {
    const value = this.req.query[name];
    if (value === undefined || value === '') return null;
    return typeof value === 'string' ? value : '\u0000';
  }

  protected header(name: string): string | null {
    const value = this.req.headers[name];
    const text = (Array.isArray(value) ? value.join(',') : (value ?? '')).trim();
    return text === '' ? null : text;
  }

  protected missing(loc: string[]): string {
    return this.wrong(loc, `${loc[1]} is required`, 'missing');
  }

  protected wrong(loc: string[], msg: string, type: string): string {
    this.#problems.push({ loc, msg, type });
    return '';
  }

  #rnc(loc: string[], text: string | null): string | null {
    return text === null || isRnc(text) ? text : this.wrong(loc, 'an RNC has 9 or 11 digits', 'rnc');
  }

  #day(name: string): CalendarDate {
    const text = this.header(name);
    if (text === null) return this.missing(['header', name]);
    const day = DAY.test(text) ? parseDocumentDate(text) : null;
    return day ?? this.wrong(['header', name], 'a day is written DD-MM-YYYY and has to exist', 'date');
  }
}
