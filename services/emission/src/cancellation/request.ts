import { createHash } from 'node:crypto';
import {
  cancellationLineRequestSchema,
  cancellationRangeRequestSchema,
  cancellationRequestSchema,
  MAX_CANCELLATION_LINES,
  MAX_CANCELLATION_RANGES,
  MAX_CANCELLATION_REASON,
  type ValidationItem,
} from '@ecf/contracts';
import {
  type EcfType,
  ENVIRONMENTS,
  type Environment,
  encfSequence,
  isEcfType,
  isEncf,
  isEnvironment,
  isRnc,
  isStorableText,
  parseStatedTime,
} from '@ecf/domain';
import { findOverlaps } from '@ecf/domain/number-set';
import { JsonRefused, parseJson } from '@ecf/ecf-xml';
import { EmissionError, invalidRequest } from '../errors.js';

/** A request that passed every check of the request alone. */
export interface CancellationRequest {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly version: string;
  readonly reason: string | null;
  /** Null: the time of signing. */
  readonly generatedAt: Date | null;
  readonly total: number;
  /** First and last sequence of each range, one after the other. */
  readonly lines: readonly { readonly type: EcfType; readonly total: number; readonly ranges: readonly number[] }[];
  /** SHA-256 of the fields before defaults are filled in: equal for equal requests. */
  readonly contentHash: string;
}

const FIELDS = Object.keys(cancellationRequestSchema.shape);
const LINE_FIELDS = Object.keys(cancellationLineRequestSchema.shape);
const RANGE_FIELDS = Object.keys(cancellationRangeRequestSchema.shape);
/** Faults that an answer names. */
const MOST_ITEMS = 100;

/**
 * Reads the body of `POST /anecf/` and checks every rule; 422 names each place at fault. Accepts what
 * cancellationRequestSchema accepts, and also checks counts, order and overlaps. Rules: Formato Anulación de e-NCF
 * v1.0 pp.4-9.
 */
export function readCancellationRequest(body: Uint8Array): CancellationRequest {
  const reader = new Reader();
  const request = reader.read(parsed(body));
  reader.refuse();
  return request;
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseJson(body, Number);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw invalidRequest(['body'], error.message, error.code === 'not_utf8' ? 'not_utf8' : 'invalid_json', error);
  }
}

type Loc = readonly (string | number)[];
type Fields = Readonly<Record<string, unknown>>;

class Reader {
  readonly #items: ValidationItem[] = [];
  #more = 0;

  refuse(): void {
    if (this.#items.length === 0) return;
    const items = [...this.#items];
    if (this.#more > 0) items.push({ loc: ['body'], msg: `${this.#more} more places are at fault.`, type: 'more' });
    throw new EmissionError('validation_error', 'The cancellation has faults.', { items });
  }

  read(body: unknown): CancellationRequest {
    const fields = this.#object(body, ['body'], FIELDS);
    const version = fields.version ?? '1.0';
    if (version !== '1.0') this.#fault(['body', 'version'], 'The version is "1.0", as text.', 'enum');
    const env = fields.authority_environment;
    const issuer = fields.issuer_rnc;
    if (env === undefined) this.#missing(['body', 'authority_environment']);
    else if (!isEnvironment(env))
      this.#fault(['body', 'authority_environment'], `It is one of ${ENVIRONMENTS.join(', ')}.`, 'enum');
    if (issuer === undefined) this.#missing(['body', 'issuer_rnc']);
    else if (typeof issuer !== 'string' || !isRnc(issuer))
      this.#fault(['body', 'issuer_rnc'], 'An RNC has 9 or 11 digits, as text.', 'rnc');
    const reason = this.#reason(fields.cancellation_reason ?? null);
    const generatedAt = this.#timestamp(fields.generation_datetime ?? null);
    const lines = this.#lines(fields.detail_lines);
    const total = lines.reduce((sum, line) => sum + line.total, 0);
    this.#quantity(fields.total_encf_canceled, ['body', 'total_encf_canceled'], total, 'the lines hold');
    const content = { env, issuer, version, reason, generated: generatedAt?.toISOString() ?? null, lines };
    return {
      env: env as Environment,
      issuerRnc: issuer as string,
      version: '1.0',
      reason,
      generatedAt,
      total,
      lines,
      contentHash: createHash('sha256').update(JSON.stringify(content)).digest('hex'),
    };
  }

  #lines(value: unknown): CancellationRequest['lines'] {
    const loc = ['body', 'detail_lines'];
    const lines = this.#list(value, loc, MAX_CANCELLATION_LINES, 'lines').map((line, index) =>
      this.#line(line, [...loc, index], index + 1),
    );
    for (const { line, range, text } of findOverlaps(lines)) {
      this.#fault([...loc, line, 'sequence_ranges', range, 'encf_desde'], text, 'overlap');
    }
    return lines;
  }

  #line(value: unknown, loc: Loc, number: number): CancellationRequest['lines'][number] {
    const fields = this.#object(value, loc, LINE_FIELDS);
    const stated = fields.line_number ?? null;
    const type = fields.ecf_type;
    if (stated !== null && wholeNumber(stated) !== number)
      this.#fault([...loc, 'line_number'], `Lines count from 1: this one is number ${number}.`, 'line_number');
    if (type === undefined) this.#missing([...loc, 'ecf_type']);
    else if (!isEcfType(type))
      this.#fault([...loc, 'ecf_type'], 'It is one of the ten types of e-CF, as text: "31" to "47".', 'enum');
    const ranges: number[] = [];
    let total = 0;
    const entries = this.#list(
      fields.sequence_ranges,
      [...loc, 'sequence_ranges'],
      MAX_CANCELLATION_RANGES,
      'ranges a line',
    );
    for (let index = 0; index < entries.length; index += 1) {
      const [from, to] = this.#range(entries[index], loc, index, type);
      ranges.push(from, to);
      total += from > 0 && to >= from ? to - from + 1 : Number.NaN;
    }
    this.#quantity(fields.total_encf_canceled, [...loc, 'total_encf_canceled'], total, 'the ranges hold');
    return { type: type as EcfType, total, ranges };
  }

  /** First and last sequence; 0 if one is invalid. */
  #range(value: unknown, line: Loc, index: number, type: unknown): [number, number] {
    const at = (name?: string): Loc => [...line, 'sequence_ranges', index, ...(name === undefined ? [] : [name])];
    const fields = this.#object(value, () => at(), RANGE_FIELDS);
    const from = this.#encf(fields.encf_desde, type, () => at('encf_desde'));
    const to = this.#encf(fields.encf_hasta, type, () => at('encf_hasta'));
    const known = from > 0 && to > 0;
    if (known && from > to) {
      this.#fault(at('encf_desde'), `${fields.encf_desde} is greater than encf_hasta ${fields.encf_hasta}.`, 'order');
    }
    const quantity = known && from <= to ? to - from + 1 : Number.NaN;
    this.#quantity(fields.quantity_canceled, () => at('quantity_canceled'), quantity, 'the range holds');
    return [from, to];
  }

  #encf(value: unknown, type: unknown, loc: () => Loc): number {
    if (value === undefined) {
      this.#missing(loc());
      return 0;
    }
    if (typeof value !== 'string' || !isEncf(value)) {
      this.#fault(loc(), 'An eNCF is E and 12 digits, as text.', 'encf');
      return 0;
    }
    const sequence = encfSequence(value) as number;
    if (sequence === 0) this.#fault(loc(), `The sequence of ${value} is zero; numbers begin with 1.`, 'encf');
    if (isEcfType(type) && value.slice(1, 3) !== type) {
      this.#fault(loc(), `${value} is not of the line's type ${type}.`, 'ecf_type');
      return 0;
    }
    return sequence;
  }

  /**
   * Checks a stated count, which may be left out or null. If the actual count is NaN, the ranges already have a fault, so
   * the stated count is not compared.
   */
  #quantity(value: unknown, loc: Loc | (() => Loc), actual: number, holds: string): void {
    if (value === undefined || value === null) return;
    const place = () => (typeof loc === 'function' ? loc() : loc);
    const stated = wholeNumber(value);
    if (stated === null) this.#fault(place(), 'A count is a whole number from 1.', 'integer');
    else if (!Number.isNaN(actual) && stated !== actual)
      this.#fault(place(), `It says ${stated}, ${holds} ${actual}.`, 'count');
  }

  #reason(value: unknown): string | null {
    if (value === null) return null;
    if (typeof value === 'string' && value.length <= MAX_CANCELLATION_REASON && isStorableText(value)) return value;
    const msg = `A text of at most ${MAX_CANCELLATION_REASON} characters, without NUL and halves of surrogate pairs.`;
    this.#fault(['body', 'cancellation_reason'], msg, 'text');
    return null;
  }

  #timestamp(value: unknown): Date | null {
    if (value === null) return null;
    const instant = typeof value === 'string' ? parseStatedTime(value) : null;
    if (instant === null)
      this.#fault(['body', 'generation_datetime'], 'An ISO 8601 time of this century that exists.', 'timestamp');
    return instant;
  }

  #list(value: unknown, loc: Loc, most: number, what: string): readonly unknown[] {
    if (value === undefined) this.#missing(loc);
    else if (!Array.isArray(value)) this.#fault(loc, 'A list is expected.', 'type');
    else if (value.length === 0) this.#fault(loc, 'The list is empty.', 'too_small');
    else if (value.length > most) this.#fault(loc, `At most ${most} ${what}, not ${value.length}.`, 'too_big');
    else return value;
    return [];
  }

  #object(value: unknown, loc: Loc | (() => Loc), known: readonly string[]): Fields {
    const place = () => (typeof loc === 'function' ? loc() : loc);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.#fault(place(), 'An object is expected.', 'type');
      return {};
    }
    for (const name of Object.keys(value)) {
      if (!known.includes(name))
        this.#fault([...place(), name], 'This field does not exist here; remove it.', 'unknown');
    }
    return value as Fields;
  }

  #missing(loc: Loc): void {
    this.#fault(loc, 'This field is required.', 'missing');
  }

  #fault(loc: Loc, msg: string, type: string): void {
    if (this.#items.length < MOST_ITEMS) this.#items.push({ loc: [...loc], msg, type });
    else this.#more += 1;
  }
}

/** A whole number from 1. */
function wholeNumber(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 1 ? (value as number) : null;
}
