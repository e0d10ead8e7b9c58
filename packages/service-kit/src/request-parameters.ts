import type { ValidationItem } from '@ecf/contracts';
import { isEncf, isRnc } from '@ecf/domain';
import type { Request } from 'express';
import { InvalidRequest } from './errors.js';

const MOST_ROWS = 2_147_483_647;

/** Reads the parameters of a request and remembers everything that is wrong with them, to say it at once. */
export class RequestParameters {
  readonly #problems: ValidationItem[] = [];

  constructor(private readonly req: Request) {}

  /** Throws 422 with all that was found. */
  check(): void {
    if (this.#problems.length > 0) throw new InvalidRequest(this.#problems);
  }

  /** A required RNC of the query. */
  rnc(name: string): string {
    const text = this.#query(name);
    if (text === null) return this.#wrong(['query', name], `${name} is required`, 'missing');
    return isRnc(text) ? text : this.#wrong(['query', name], 'an RNC has 9 or 11 digits', 'rnc');
  }

  /** `limit` 1 to 100, default 10; `offset` from 0, default 0. */
  page(): { limit: number; offset: number } {
    return { limit: this.integer('limit', 1, 100, 10), offset: this.integer('offset', 0, MOST_ROWS, 0) };
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

  /** `true` or `false` of the query, in any case. */
  flag(name: string, preset: boolean): boolean {
    const text = this.#query(name)?.toLowerCase() ?? null;
    if (text === null) return preset;
    if (text === 'true' || text === 'false') return text === 'true';
    this.#wrong(['query', name], `${name} is true or false`, 'boolean');
    return preset;
  }

  /** The path's id, a whole number. */
  id(name: string): number {
    const text = String(this.req.params[name] ?? '');
    if (/^\d{1,15}$/.test(text)) return Number(text);
    this.#wrong(['path', name], `${name} is a whole number`, 'integer');
    return 0;
  }

  /** The path's eNCF in upper case. */
  encf(): string {
    const encf = String(this.req.params.encf ?? '').toUpperCase();
    return isEncf(encf) ? encf : this.#wrong(['path', 'encf'], 'an eNCF is E and 12 digits', 'encf');
  }

  /** A parameter given twice counts as malformed. */
  #query(name: string): string | null {
    const value = this.req.query[name];
    if (value === undefined || value === '') return null;
    return typeof value === 'string' ? value : '\u0000';
  }

  #wrong(loc: string[], msg: string, type: string): string {
    this.#problems.push({ loc, msg, type });
    return '';
  }
}
