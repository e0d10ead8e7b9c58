import {
  type DocumentNode,
  ECF_TYPES,
  ENVIRONMENTS,
  formatDocumentDate,
  isRnc,
  parseDocumentDate,
  RUN_ENVIRONMENTS,
} from '@ecf/domain';
import { z } from 'zod';
import { FAULT_KINDS, type Fault, type FaultKind } from '../faults.js';
import type { TaxpayerEntry } from '../ledger/taxpayers.js';
import type { Maintenance } from '../operations/maintenance.js';
import { OPERATIONS, type Operation } from '../services.js';
import { statusWord } from '../verdicts/verdict.js';

/** Wrong use of the control interface; the message is a sentence for the caller. */
export class ControlRefused extends Error {
  override readonly name = 'ControlRefused';
  constructor(
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

/**
 * The body as this schema describes it.
 *
 * @throws ControlRefused naming the field and its rule
 */
function readInput<T>(body: Buffer, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new ControlRefused('The body has to be JSON.');
  }
  return checked(value, schema);
}

function checked<T>(value: unknown, schema: z.ZodType<T>): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw new ControlRefused(`${issue?.path.join('.') || 'The body'}: ${issue?.message}.`);
}

const absent = <T>(schema: z.ZodType<T>) => schema.nullish();
/** A code as text or as a number. */
const CODE = z.union([z.string().min(1), z.number()]).transform(String);
const MESSAGE = z.union(
  [
    z.string().transform((text) => ({ code: '0', text })),
    z
      .strictObject({ codigo: CODE.default('0'), valor: z.string().nullish() })
      .transform(({ codigo, valor }) => ({ code: codigo, text: valor ?? '' })),
  ],
  'has to be {codigo, valor} or a text',
);
const VERDICT = z
  .strictObject({
    codigo: CODE,
    estado: absent(z.string()),
    mensajes: absent(z.array(MESSAGE)),
    secuenciaUtilizada: absent(z.boolean()),
  })
  .transform(({ codigo, estado, mensajes, secuenciaUtilizada }) => ({
    code: codigo,
    status: estado ?? statusWord(String(Number(codigo))) ?? '',
    messages: mensajes ?? [],
    sequenceUsed: secuenciaUtilizada ?? Number(codigo) !== 2,
  }));

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
const areHeaders = (headers: Record<string, string>): boolean =>
  Object.entries(headers).every(([name, value]) => /^[\w-]+$/.test(name) && !/[\r\n]/.test(value));

const FAULT = z
  .strictObject({
    operation: z.enum(['*', ...OPERATIONS]),
    kind: z.enum(FAULT_KINDS),
    times: absent(z.int().min(1)),
    rate: absent(z.number().min(0).max(1)),
    status: absent(z.int().min(200).max(599)),
    body: z.unknown().optional(),
    headers: absent(z.record(z.string(), z.string()).refine(areHeaders, 'has to be an object of names and texts')),
    delay_ms: absent(z.int().min(0).max(3_600_000)),
    verdict: absent(VERDICT),
  })
  .superRefine(({ operation, kind, delay_ms, verdict }, { addIssue }) => {
    const refuse = (path: string, message: string) => addIssue({ code: 'custom', path: [path], message });
    const places = ONLY_ON[kind];
    if (places && operation !== '*' && !places.includes(operation))
      refuse('kind', `a fault of kind ${kind} has no effect on ${operation}; it has on ${places.join(', ')}`);
    if (kind === 'slow' && delay_ms == null) refuse('delay_ms', 'a fault of kind slow needs it');
    if (kind === 'verdict' && verdict == null)
      refuse('verdict', 'a fault of kind verdict needs {codigo, estado, mensajes, secuenciaUtilizada}');
    if (kind !== 'verdict' && verdict != null) refuse('verdict', 'belongs to a fault of kind verdict');
  });

export function readFault(body: Buffer, id: string): Fault {
  const { operation, kind, times, rate, status, headers, delay_ms, verdict, ...given } = readInput(body, FAULT);
  return {
    ...{ id, operation, kind, times: times ?? null, rate: rate ?? 1, status: status ?? 503 },
    ...contentOf(given.body ?? ''),
    ...{ headers: headers ?? {}, delayMs: delay_ms ?? 0, verdict: verdict ?? null },
  };
}

/** Text is sent as it is, other values as JSON. */
function contentOf(body: unknown): { body: string; contentType: string } {
  if (body === '') return { body, contentType: '' };
  if (typeof body !== 'string') return { body: JSON.stringify(body), contentType: 'application/json; charset=utf-8' };
  const start = body.trimStart()[0] ?? '';
  const type = start === '<' ? 'text/html' : '{["'.includes(start) ? 'application/json' : 'text/plain';
  return { body, contentType: `${type}; charset=utf-8` };
}

/** A fault as the control interface shows it. */
export function showFault({ id, operation, kind, times, rate, delayMs, status, body, verdict }: Fault): object {
  const forced = verdict && {
    codigo: verdict.code,
    estado: verdict.status,
    mensajes: verdict.messages.map(({ code, text }) => ({ codigo: code, valor: text })),
    secuenciaUtilizada: verdict.sequenceUsed,
  };
  return {
    ...{ id, operation, kind, times, rate, delay_ms: delayMs },
    ...(kind === 'http' ? { status, body } : {}),
    ...(forced ? { verdict: forced } : {}),
  };
}

const RNC = z.string().refine(isRnc, 'has to be 9 or 11 digits');
const ADDRESS = z
  .literal('')
  .or(z.url({ protocol: /^https?$/, error: 'has to be an address that begins with http:// or https://' }))
  .nullish()
  .transform((address) => address || null);
/** An eNCF or a sequence number. */
const SEQUENCE = z
  .union([z.number(), z.string()])
  .transform((value) => /^(?:E(?<type>[0-9]{2}))?(?<number>[0-9]{1,10})$/i.exec(String(value))?.groups)
  .refine((groups) => Number(groups?.number ?? 0) > 0, 'has to be an eNCF or a number from 1 to 9999999999');
const RANGE = z
  .strictObject({
    env: absent(z.enum(ENVIRONMENTS)),
    ecf_type: z.union([z.string(), z.number()]).transform(String).pipe(z.enum(ECF_TYPES)),
    from: SEQUENCE,
    to: SEQUENCE,
    expires: absent(z.string()),
  })
  .transform(({ env, ecf_type, from, to, expires }, { issues, value }) => {
    const refuse = (path: string, message: string) =>
      issues.push({ code: 'custom', input: value, path: [path], message });
    if ([from, to].some((one) => one?.type !== undefined && one.type !== ecf_type))
      refuse('from', `has to be a number of type ${ecf_type}, like to`);
    if (Number(from?.number) > Number(to?.number)) refuse('from', 'has to be at most to');
    const [year, month, day] = (expires ?? '').split('-');
    const date = expires ? (parseDocumentDate(expires) ?? parseDocumentDate(`${day}-${month}-${year}`)) : null;
    if (expires && !date) refuse('expires', 'has to be a date, DD-MM-YYYY or YYYY-MM-DD');
    const bounds = { from: Number(from?.number), to: Number(to?.number) };
    return { env: env ?? null, ecf_type, ...bounds, expires: date ? formatDocumentDate(date) : null };
  });
const TAXPAYER = z.strictObject({
  rnc: RNC,
  name: absent(z.string()).transform((name) => name ?? ''),
  active: absent(z.boolean()).transform((active) => active ?? true),
  electronic: absent(z.boolean()).transform((electronic) => electronic ?? true),
  ranges: absent(z.array(RANGE)).transform((ranges) => ranges ?? null),
  /** RNC, cédula or passport numbers, as certificates name them. */
  delegates: absent(
    z.array(
      z
        .string()
        .min(1)
        .transform((id) => id.replace(/^[A-Z]+-/, '')),
    ),
  ).transform((delegates) => delegates ?? null),
  reception_url: ADDRESS,
  approval_url: ADDRESS,
  authentication_url: ADDRESS,
});

/** A taxpayer in the control interface; omitted fields have the defaults of an unknown one. */
export function readTaxpayer(rnc: string, body: Buffer): TaxpayerEntry {
  const given = readInput(
    body,
    z.looseObject({ rnc: z.literal(rnc, `has to be ${rnc}, as in the address`).optional() }),
  );
  return checked({ ...given, rnc }, TAXPAYER);
}

/**
 * A JSON list of taxpayers, as a setting has it.
 *
 * @throws ControlRefused
 */
export function readTaxpayers(text: string): TaxpayerEntry[] {
  return readInput(Buffer.from(text), z.array(TAXPAYER));
}

const TIME = z
  .string()
  .transform((text) => new Date(text))
  .refine((at) => !Number.isNaN(at.getTime()), 'has to be a time in ISO 8601 with offset');
const MAINTENANCE = z.array(
  z
    .strictObject({ environment: z.enum(ENVIRONMENTS), start_time: TIME, end_time: TIME })
    .refine(({ start_time, end_time }) => start_time < end_time, {
      path: ['end_time'],
      error: 'has to be after start_time',
    })
    .transform(({ environment, start_time, end_time }) => ({ environment, from: start_time, until: end_time })),
);

/** A list of `{environment, start_time, end_time}`, times in ISO 8601 with offset. */
export function readMaintenance(body: Buffer): Maintenance[] {
  return readInput(body, MAINTENANCE);
}

const TREE: z.ZodType<DocumentNode[string]> = z.lazy(() =>
  z.union([z.string(), z.array(TREE), z.record(z.string(), TREE)]),
) as z.ZodType<DocumentNode[string]>;
const DOCUMENT = z.union(
  ['ECF', 'RFCE', 'ACECF'].map((root) => z.strictObject({ [root]: TREE })),
  'has to be one of ECF, RFCE, ACECF with text in all leaves',
);

/** A certification data set: a list of documents in their JSON form, all leaves text. */
export function readCertificationSet(rnc: string, body: Buffer): DocumentNode[] {
  checked(rnc, RNC);
  return readInput(body, z.array(DOCUMENT).min(1)) as DocumentNode[];
}

/** The environment in which a set is restarted: `{env}`. */
export function readRestart(rnc: string, body: Buffer): (typeof RUN_ENVIRONMENTS)[number] {
  checked(rnc, RNC);
  return readInput(body, z.looseObject({ env: z.enum(RUN_ENVIRONMENTS) })).env;
}

/** `{strict}`: see `SignatureReading`. */
export function readStrict(body: Buffer): boolean {
  return readInput(body, z.strictObject({ strict: absent(z.boolean()) })).strict ?? false;
}
