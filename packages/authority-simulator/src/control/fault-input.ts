import { FAULT_KINDS, type Fault, type FaultKind } from '../faults/fault.js';
import { OPERATIONS, type Operation } from '../operation.js';
import { type Message, statusWord, type Verdict } from '../verdicts/verdict.js';
import {
  ControlRefused,
  flag,
  type JsonObject,
  list,
  oneOf,
  onlyMembers,
  readObject,
  text,
  wholeNumber,
} from './input.js';

const MEMBERS = ['operation', 'kind', 'times', 'rate', 'status', 'body', 'headers', 'delay_ms', 'verdict'];
const LONGEST_DELAY = 3_600_000;

/** Operations on which a kind has an effect; the other kinds have one everywhere. */
const ONLY_ON: Partial<Record<FaultKind, readonly Operation[]>> = {
  processing: ['recepcion', 'consultaresultado'],
  verdict: [
    'recepcion',
    'recepcionfc',
    'consultaresultado',
    'consultaestado',
    'consultatrackids',
    'consultarfce',
    'aprobacioncomercial',
    'anulacionrangos',
  ],
};

/**
 * A fault as the control interface takes it.
 *
 * @throws ControlRefused with a sentence
 */
export function readFault(body: Buffer, id: string): Fault {
  const input = readObject(body, MEMBERS);
  const operation = oneOf(input, 'operation', ['*', ...OPERATIONS]);
  const kind = oneOf(input, 'kind', FAULT_KINDS);
  const places = ONLY_ON[kind];
  if (places && operation !== '*' && !places.includes(operation)) {
    throw new ControlRefused(`A fault of kind ${kind} has no effect on ${operation}; it has on ${places.join(', ')}.`);
  }
  const delayMs = wholeNumber(input, 'delay_ms', 0, LONGEST_DELAY);
  if (kind === 'slow' && delayMs === null) throw new ControlRefused('A fault of kind slow needs delay_ms.');
  const { content, contentType } = readBody(input);
  return {
    id,
    operation,
    kind,
    times: wholeNumber(input, 'times', 1, Number.MAX_SAFE_INTEGER),
    rate: readRate(input),
    status: wholeNumber(input, 'status', 200, 599) ?? 503,
    body: content,
    contentType,
    headers: readHeaders(input),
    delayMs: delayMs ?? 0,
    verdict: readVerdict(input, kind),
  };
}

function readRate(input: JsonObject): number {
  const rate = input.rate ?? null;
  if (rate === null) return 1;
  if (typeof rate === 'number' && rate >= 0 && rate <= 1) return rate;
  throw new ControlRefused('rate has to be a number from 0 to 1.');
}

/** Text goes out as it is, anything else as JSON. */
function readBody({ body }: JsonObject): { content: string; contentType: string } {
  if (body === undefined || body === null) return { content: '', contentType: '' };
  if (typeof body !== 'string') {
    return { content: JSON.stringify(body), contentType: 'application/json; charset=utf-8' };
  }
  const start = body.trimStart()[0];
  const kind =
    start === '<' ? 'text/html' : start === '{' || start === '[' || start === '"' ? 'application/json' : 'text/plain';
  return { content: body, contentType: `${kind}; charset=utf-8` };
}

function readHeaders({ headers }: JsonObject): Record<string, string> {
  if (headers === undefined || headers === null) return {};
  const entries = typeof headers === 'object' && !Array.isArray(headers) ? Object.entries(headers) : null;
  if (!entries?.every(([name, value]) => /^[\w-]+$/.test(name) && typeof value === 'string' && !/[\r\n]/.test(value))) {
    throw new ControlRefused('headers has to be an object of names and texts.');
  }
  return Object.fromEntries(entries as [string, string][]);
}

function readVerdict(input: JsonObject, kind: FaultKind): Verdict | null {
  const { verdict } = input;
  if (kind !== 'verdict') {
    if (verdict === undefined || verdict === null) return null;
    throw new ControlRefused('verdict belongs to a fault of kind verdict.');
  }
  if (typeof verdict !== 'object' || verdict === null || Array.isArray(verdict)) {
    throw new ControlRefused('A fault of kind verdict needs verdict {codigo, estado, mensajes, secuenciaUtilizada}.');
  }
  const members = onlyMembers(verdict as JsonObject, ['codigo', 'estado', 'mensajes', 'secuenciaUtilizada'], 'verdict');
  const code = codeOf(members.codigo);
  if (code === null || code === '') throw new ControlRefused('verdict.codigo has to be a number or text.');
  return {
    code,
    status: text(members, 'estado') ?? statusWord(String(Number(code))) ?? '',
    messages: (list(members, 'mensajes') ?? []).map(readMessage),
    sequenceUsed: flag(members, 'secuenciaUtilizada') ?? Number(code) !== 2,
  };
}

/** `{codigo, valor}`, or the text alone. */
function readMessage(message: unknown): Message {
  if (typeof message === 'string') return { code: '0', text: message };
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) {
    const members = onlyMembers(message as JsonObject, ['codigo', 'valor'], 'A message');
    const code = codeOf(members.codigo ?? 0);
    if (code !== null) return { code, text: text(members, 'valor') ?? '' };
  }
  throw new ControlRefused('verdict.mensajes has to be a list of {codigo, valor} or of texts.');
}

function codeOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/** A fault as the control interface shows it. */
export function showFault(fault: Fault): JsonObject {
  const { id, operation, kind, times, rate, delayMs } = fault;
  const http = kind === 'http' ? { status: fault.status, body: fault.body } : {};
  const { verdict } = fault;
  const forced = verdict
    ? {
        verdict: {
          codigo: verdict.code,
          estado: verdict.status,
          mensajes: verdict.messages.map(({ code, text: valor }) => ({ codigo: code, valor })),
          secuenciaUtilizada: verdict.sequenceUsed,
        },
      }
    : {};
  return { id, operation, kind, times, rate, delay_ms: delayMs, ...http, ...forced };
}
