import { createHash } from 'node:crypto';
import { cancellationRequestSchema, type ValidationItem, validationItems } from '@ecf/contracts';
import {
  type DocumentNode,
  type Environment,
  formatSignatureDateTime,
  parseStatedTime,
  toCalendarDate,
} from '@ecf/domain';
import { encfOf, findOverlaps } from '@ecf/domain/number-set';
import { examineJson, JsonRefused, parseJson, writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import type { z } from 'zod';
import { EmissionError, invalidRequest } from '../errors.js';
import { type CancellationLine, rangesOf } from './cancellation.js';

/** A request that passed every check of the request alone. */
export interface CancellationRequest {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly version: string;
  readonly reason: string | null;
  /** Null: the time of signing. */
  readonly generatedAt: Date | null;
  readonly total: number;
  readonly lines: readonly CancellationLine[];
  /** SHA-256 of the fields before defaults are filled in: equal for equal requests. */
  readonly contentHash: string;
}

/**
 * Reads the body of `POST /anecf/`. 422 names each place at fault. The rules between fields are checked after the schema.
 * Source: Formato Anulación de e-NCF v1.0 pp.4-9.
 */
export function readCancellationRequest(body: Uint8Array): CancellationRequest {
  const input = parsed(body);
  const { data, error } = cancellationRequestSchema.safeParse(input);
  if (error !== undefined) throw faulty(validationItems(error, input, 'body'));
  const lines = data.detail_lines.map(lineOf);
  const faults = faultsBetweenFields(data, lines);
  if (faults.length > 0) throw faulty(faults);
  const { authority_environment: env, issuer_rnc: issuer, cancellation_reason: reason = null } = data;
  const stated = data.generation_datetime ?? null;
  const generatedAt = stated === null ? null : parseStatedTime(stated);
  const content = { env, issuer, version: '1.0', reason, generated: generatedAt?.toISOString() ?? null, lines };
  return {
    env,
    issuerRnc: issuer,
    version: '1.0',
    reason,
    generatedAt,
    total: sum(lines.map(({ total }) => total)),
    lines,
    contentHash: createHash('sha256').update(JSON.stringify(content)).digest('hex'),
  };
}

function parsed(body: Uint8Array): unknown {
  try {
    return parseJson(body, Number);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw invalidRequest(['body'], error.message, error.code === 'not_utf8' ? 'not_utf8' : 'invalid_json', error);
  }
}

type StatedRequest = z.infer<typeof cancellationRequestSchema>;
type StatedLine = StatedRequest['detail_lines'][number];
type StatedRange = StatedLine['sequence_ranges'][number];

function lineOf({ ecf_type: type, sequence_ranges: ranges }: StatedLine): CancellationLine {
  return { type, total: sum(ranges.map(quantityOf)), ranges: ranges.flatMap(sequencesOf) };
}

/** First and last sequence. */
function sequencesOf({ encf_desde, encf_hasta }: StatedRange): [number, number] {
  return [Number(encf_desde.slice(3)), Number(encf_hasta.slice(3))];
}

function quantityOf(range: StatedRange): number {
  const [from, to] = sequencesOf(range);
  return to - from + 1;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The faults of types, order, counts and overlaps. */
function faultsBetweenFields(request: StatedRequest, lines: readonly CancellationLine[]): ValidationItem[] {
  const found: ValidationItem[] = [];
  const fault = (loc: readonly (string | number)[], msg: string, type: string) =>
    found.push({ loc: ['body', ...loc], msg, type });
  request.detail_lines.forEach((line, index) => {
    const place = ['detail_lines', index];
    if (line.line_number != null && line.line_number !== index + 1)
      fault([...place, 'line_number'], `Lines count from 1: this one is number ${index + 1}.`, 'line_number');
    line.sequence_ranges.forEach((range, n) => {
      const rangePlace = [...place, 'sequence_ranges', n];
      for (const field of ['encf_desde', 'encf_hasta'] as const) {
        const encf = range[field];
        if (encf.slice(1, 3) !== line.ecf_type)
          fault([...rangePlace, field], `${encf} is not of the line's type ${line.ecf_type}.`, 'ecf_type');
        else if (Number(encf.slice(3)) === 0)
          fault([...rangePlace, field], `The sequence of ${encf} is zero; numbers begin with 1.`, 'encf');
      }
      if (quantityOf(range) < 1) {
        const msg = `${range.encf_desde} is greater than encf_hasta ${range.encf_hasta}.`;
        fault([...rangePlace, 'encf_desde'], msg, 'order');
      }
    });
  });
  // Counts of ranges with a fault say nothing.
  if (found.length > 0) return found;

  function checkCount(loc: readonly (string | number)[], stated: number | null | undefined, actual: number) {
    if (stated != null && stated !== actual) fault(loc, `It says ${stated}, but the ranges hold ${actual}.`, 'count');
  }
  const field = 'total_encf_canceled';
  checkCount([field], request[field], sum(lines.map(({ total }) => total)));
  request.detail_lines.forEach((line, index) => {
    checkCount(['detail_lines', index, field], line[field], lines[index]?.total as number);
    line.sequence_ranges.forEach((range, n) => {
      const loc = ['detail_lines', index, 'sequence_ranges', n, 'quantity_canceled'];
      checkCount(loc, range.quantity_canceled, quantityOf(range));
    });
  });
  for (const { line, range, text } of findOverlaps(lines))
    fault(['detail_lines', line, 'sequence_ranges', range, 'encf_desde'], text, 'overlap');
  return found;
}

/** Faults that an answer names. */
const MOST_ITEMS = 100;

function faulty(faults: readonly ValidationItem[]): EmissionError {
  const items = faults.slice(0, MOST_ITEMS);
  const more = faults.length - items.length;
  if (more > 0) items.push({ loc: ['body'], msg: `${more} more places are at fault.`, type: 'more' });
  return new EmissionError('validation_error', 'The cancellation has faults.', { items });
}

/** The bytes to be stored and sent, and where they are stored. */
export interface SignedCancellation {
  readonly xmlPath: string;
  readonly xmlSha256: string;
  readonly bytes: Uint8Array;
}

/** The signed document and where it is kept: `<env>/anecf/<issuer RNC>/issued/<yyyy>/<mm>/<RNC>-<checksum>.xml`. */
export async function signCancellation(
  request: CancellationRequest,
  generatedAt: Date,
  certificate: SigningCertificate,
  now: Date,
): Promise<SignedCancellation> {
  const tree = cancellationTree(request, generatedAt);
  const { faults } = examineJson(tree, { now });
  if (faults.length > 0) throw faulty(faults.map(({ message, rule }) => ({ loc: ['body'], msg: message, type: rule })));
  const { xml } = await signXml(writeXml(tree), certificate);
  const bytes = Buffer.from(xml, 'utf8');
  const xmlSha256 = createHash('sha256').update(bytes).digest('hex');
  const [year, month] = toCalendarDate(now).split('-');
  const { env, issuerRnc } = request;
  return {
    xmlPath: `${env}/anecf/${issuerRnc}/issued/${year}/${month}/${issuerRnc}-${xmlSha256}.xml`,
    xmlSha256,
    bytes,
  };
}

/** The tree of a cancellation. Source: Formato Anulación de e-NCF v1.0 pp.4-7. */
function cancellationTree({ issuerRnc, version, total, lines }: CancellationRequest, generatedAt: Date): DocumentNode {
  return {
    ANECF: {
      Encabezado: {
        Version: version,
        RncEmisor: issuerRnc,
        CantidadeNCFAnulados: String(total),
        FechaHoraAnulacioneNCF: formatSignatureDateTime(generatedAt),
      },
      DetalleAnulacion: {
        Anulacion: lines.map((line, index) => ({
          NoLinea: [String(index + 1)],
          TipoeCF: line.type,
          TablaRangoSecuenciasAnuladaseNCF: {
            Secuencias: rangesOf([line]).map(({ type, from, to }) => ({
              SecuenciaeNCFDesde: encfOf(type, from),
              SecuenciaeNCFHasta: encfOf(type, to),
            })),
          },
          CantidadeNCFAnulados: String(line.total),
        })),
      },
    },
  };
}
