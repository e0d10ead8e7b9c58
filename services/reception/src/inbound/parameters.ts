import type { IncomingHttpHeaders } from 'node:http';
import type { ValidationItem } from '@ecf/contracts';
import { type CalendarDate, isRnc, parseDocumentDate } from '@ecf/domain';
import { ApiError, InvalidRequest } from '@ecf/service-kit';
import type { Request } from 'express';

const DAY = /^\d{2}-\d{2}-\d{4}$/;

/** Reads the parameters of a request and remembers everything that is wrong with them, to say it at once. */
export class Parameters {
  readonly #problems: ValidationItem[] = [];

  constructor(private readonly req: Request) {}

  /** Throws 422 with all that was found. */
  check(): void {
    if (this.#problems.length > 0) throw new InvalidRequest(this.#problems);
  }

  /** A required header with an RNC. */
  rnc(name: string): string {
    return this.optionalRnc(name) ?? this.#missing(['header', name]);
  }

  optionalRnc(name: string): string | null {
    const text = headerText(this.req.headers, name);
    if (text === null) return null;
    return isRnc(text) ? text : this.#wrong(['header', name], 'an RNC has 9 or 11 digits', 'rnc');
  }

  /** A required header with a day, `DD-MM-YYYY`. */
  day(name: string): CalendarDate {
    const text = headerText(this.req.headers, name);
    if (text === null) return this.#missing(['header', name]);
    const day = DAY.test(text) ? parseDocumentDate(text) : null;
    return day ?? this.#wrong(['header', name], 'a day is written DD-MM-YYYY and has to exist', 'date');
  }

  /** Both days of a period; reversed ones are reported by `reversed`: as parameters at odds (400) or as a fault of one (422). */
  period(reversed: 400 | 422): { first: CalendarDate; last: CalendarDate } {
    const [first, last] = [this.day('start-date'), this.day('end-date')];
    if (this.#problems.length > 0 || first <= last) return { first, last };
    const message = 'start-date is after end-date';
    if (reversed === 400) throw new ApiError(400, 'invalid_parameters', `${message}; swap them.`);
    this.#wrong(['header', 'end-date'], message, 'date_range');
    return { first, last };
  }

  /** `limit` 1 to 1000, default 200; `offset` from 0, default 0. */
  page(): { limit: number; offset: number } {
    return { limit: this.#integer('limit', 1, 1000, 200), offset: this.#integer('offset', 0, 2_147_483_647, 0) };
  }

  /** Where the specification asks for 400 instead of 422. */
  issuerRncOr400(): string {
    const text = this.#query('issuer_rnc');
    if (text !== null && isRnc(text)) return text;
    throw new ApiError(
      400,
      'invalid_issuer_rnc',
      'Send issuer_rnc, the 9 or 11 digits of the RNC that issued the invoice.',
    );
  }

  #integer(name: string, least: number, most: number, preset: number): number {
    const text = this.#query(name);
    if (text === null) return preset;
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    this.#wrong(['query', name], `${name} is a whole number from ${least} to ${most}`, 'integer');
    return preset;
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
