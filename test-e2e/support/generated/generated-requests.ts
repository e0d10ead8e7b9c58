import { disturbed, hostileText, hostileValue } from './hostile-values.js';
import type { DescribedOperation, DescribedParameter } from './interface-document.js';
import { withAllOptionalFields, withOptionalFields } from './optional-fields.js';
import type { Random } from './random.js';
import type { RawRequest } from '../raw-request.js';

/** The values of valid requests: they exist in the deployment, by the name of the parameter or operation. */
export interface Pool {
  /** Values of a parameter; without any, the example of the description is sent. */
  values(operation: DescribedOperation, parameter: DescribedParameter): readonly string[];
  /** A body that the operation accepts: a JSON value, the parts of a form, or a file. */
  body(operation: DescribedOperation, random: Random): unknown;
  /** Headers that authenticate the caller. */
  access(operation: DescribedOperation): [string, string][];
}

export interface GeneratedRequest extends RawRequest {
  /** The change to the valid request. */
  kind: string;
}

/** A parameter with the values to send; an empty list leaves it out. */
type Chosen = [parameter: DescribedParameter, values: string[]];

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const BOUNDARY = 'odd+boundary_1';

/** Requests to one operation: valid ones, then valid ones with one error. */
export function* generateRequests(
  operation: DescribedOperation,
  pool: Pool,
  random: Random,
  taken: ReadonlySet<string>,
): Generator<GeneratedRequest> {
  const make = (kind: string, change: Change = {}) => assemble(operation, pool, random, kind, change);
  yield make('required parameters alone', { optional: false });
  for (let index = 0; index < 3; index += 1) yield make('good');
  yield make('all optional parameters', { optional: true });
  for (const parameter of operation.parameters) {
    if (parameter.required && parameter.in !== 'path')
      yield make(`without ${parameter.name}`, { without: parameter.name });
    for (let index = 0; index < 3; index += 1) yield make(`odd ${parameter.name}`, { odd: parameter.name });
    if (parameter.in !== 'path') yield make(`${parameter.name} twice`, { twice: parameter.name });
  }
  yield make('unknown parameters', { extra: true });
  if (operation.security.length > 0) {
    yield make('nobody', { access: [] });
    yield make('a stranger', { access: pool.access(operation).map(([name]) => [name, hostileHeader(random)]) });
  }
  for (const method of METHODS) {
    const known = taken.has(`${method === 'HEAD' ? 'GET' : method} ${operation.path}`);
    if (!known && random.chance(0.35)) yield { ...make(`method ${method}`), method, body: null };
  }
  if (operation.method === 'GET') yield { ...make('good'), method: 'HEAD' };
  if (operation.method === 'GET')
    yield make('a body', { body: { type: 'application/json', bytes: Buffer.from('{"a":1}') } });
  for (const body of bodies(operation, pool, random)) yield make(body.kind, { body });
}

interface Change {
  /** Whether to send the optional parameters; without it, chance decides of each. */
  optional?: boolean;
  without?: string;
  odd?: string;
  twice?: string;
  extra?: boolean;
  access?: [string, string][];
  body?: Body;
}

interface Body {
  type: string | null;
  bytes: Buffer;
}

function assemble(
  operation: DescribedOperation,
  pool: Pool,
  random: Random,
  kind: string,
  change: Change,
): GeneratedRequest {
  const chosen: Chosen[] = operation.parameters.map((parameter) => {
    const { name, required } = parameter;
    if (change.without === name) return [parameter, []];
    const good = random.pick(pool.values(operation, parameter));
    if (change.odd === name) return [parameter, [hostileText(random)]];
    if (change.twice === name) return [parameter, [good, random.chance(0.5) ? good : hostileText(random)]];
    return [parameter, required || (change.optional ?? random.chance(0.3)) ? [good] : []];
  });
  let path = operation.path;
  const query: string[] = [];
  const headers: [string, string][] = change.access ?? pool.access(operation);
  const sent: [string, string][] = [...headers];
  for (const [{ name, in: place }, values] of chosen)
    for (const value of values) {
      if (place === 'path') path = path.replace(`{${name}}`, inPath(value, random));
      else if (place === 'query') query.push(`${name}=${percentEncoded(value)}`);
      else sent.push([name, headerText(value)]);
    }
  if (change.extra === true) {
    query.push(
      `${percentEncoded(hostileText(random).slice(0, 200))}=${percentEncoded(hostileText(random))}`,
      'a[b]=c',
      '%',
      '=&&',
    );
    sent.push(['x-unknown', hostileHeader(random)], ['x-forwarded-for', hostileHeader(random)], ['cookie', 'a=b']);
  }
  const body = change.body ?? goodBody(operation, pool, random);
  if (body?.type != null) sent.push(['content-type', body.type]);
  const search = query.length === 0 ? '' : `?${query.join('&')}`;
  const slash = random.chance(0.2) && change.odd === undefined ? '/' : '';
  return { kind, method: operation.method, path: `${path}${slash}${search}`, headers: sent, body: body?.bytes ?? null };
}

function mediaType(operation: DescribedOperation): string | null {
  return Object.keys(operation.body)[0] ?? null;
}

function goodBody(operation: DescribedOperation, pool: Pool, random: Random): Body | null {
  const type = mediaType(operation);
  if (type === null) return null;
  const value = pool.body(operation, random);
  if (value instanceof Buffer) return { type, bytes: value };
  return type === 'multipart/form-data' ? form(value as Parts) : json(JSON.stringify(value));
}

type Parts = Record<string, string | Buffer>;

const json = (text: string | Buffer): Body => ({ type: 'application/json', bytes: Buffer.from(text as string) });

function form(parts: Parts | [string, string | Buffer][], boundary = BOUNDARY): Body {
  const chunks = (Array.isArray(parts) ? parts : Object.entries(parts)).flatMap(([name, content]) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"`),
    Buffer.from(typeof content === 'string' ? '\r\n\r\n' : `; filename="${name}.bin"\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]);
  return {
    type: `multipart/form-data; boundary="${boundary}"`,
    bytes: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
  };
}

/** Bodies with one error. */
function* bodies(operation: DescribedOperation, pool: Pool, random: Random): Generator<Body & { kind: string }> {
  const type = mediaType(operation);
  if (type === null) return;
  const value = () => pool.body(operation, random);
  const good = () => goodBody(operation, pool, random) as Body;
  const of = (kind: string, body: Body) => ({ kind, ...body });
  yield of('no body', { type, bytes: Buffer.alloc(0) });
  yield of('no content type', { ...good(), type: null });
  yield of('odd content type', { ...good(), type: headerText(hostileText(random)) });
  for (const other of ['text/plain', 'application/x-www-form-urlencoded', 'application/json', 'multipart/form-data'])
    yield of(`as ${other}`, { ...good(), type: other });
  yield of('cut', { ...good(), bytes: good().bytes.subarray(0, random.below(good().bytes.length)) });
  yield of('noise', { ...good(), bytes: Buffer.from(Array.from({ length: 500 }, () => random.below(256))) });
  if (type === 'application/json') {
    for (let index = 0; index < 12; index += 1) yield of('odd field', json(JSON.stringify(disturbed(value(), random))));
    const schema = operation.body[type]?.schema ?? {};
    for (const { field, body } of withOptionalFields(value, schema, random))
      yield of(`field ${field}`, json(JSON.stringify(body)));
    for (let index = 0; index < 4; index += 1) {
      const all = () => withAllOptionalFields(value(), schema, random);
      yield of('all fields', json(JSON.stringify(all())));
      yield of('all fields, one odd', json(JSON.stringify(disturbed(all(), random))));
    }
    for (let index = 0; index < 4; index += 1) yield of('odd value', json(JSON.stringify(hostileValue(random))));
    yield of('deep', json(`${'['.repeat(5_000)}${']'.repeat(5_000)}`));
    yield of('prototype', json(JSON.stringify(value()).replace('{', '{"__proto__":{"x":1},"constructor":1,')));
    yield of('Latin-1', { type, bytes: Buffer.from(`{"name":"ñ","xml":"ñ"}`, 'latin1') });
    yield of('another charset', { ...good(), type: 'application/json; charset=iso-8859-1' });
    yield of('huge number', json(JSON.stringify(value()).replace(/:\s*\d+/, `:1${'0'.repeat(400)}`)));
    return;
  }
  if (type !== 'multipart/form-data') {
    for (let index = 0; index < 6; index += 1) yield of('damaged', { type, bytes: damaged(good().bytes, random) });
    return;
  }
  const parts = value() as Parts;
  for (const name of Object.keys(parts)) {
    const { [name]: content, ...rest } = value() as Parts;
    yield of(`without part ${name}`, form(rest));
    yield of(
      `part ${name} twice`,
      form([...Object.entries(rest), [name, content as Buffer], [name, content as Buffer]]),
    );
    yield of(`empty part ${name}`, form({ ...rest, [name]: '' }));
    for (let index = 0; index < 6; index += 1) {
      const bytes = Buffer.from(content as string);
      const odd = random.chance(0.4) ? Buffer.from(hostileText(random)) : damaged(bytes, random);
      yield of(`odd part ${name}`, form({ ...rest, [name]: odd }));
    }
    yield of(`other part beside ${name}`, form({ ...parts, [hostileText(random).replace(/[\r\n"]/g, '')]: 'x' }));
  }
  yield of('wrong boundary', { ...good(), type: 'multipart/form-data; boundary=another' });
  yield of('fifty parts', form(Array.from({ length: 50 }, (_, index) => [`p${index}`, 'x'])));
}

/** The bytes with some lost, doubled or changed. */
function damaged(bytes: Buffer, random: Random): Buffer {
  const [from, length] = [random.below(bytes.length + 1), random.below(40)];
  const middle = random.chance(0.5) ? Buffer.from(hostileText(random)) : Buffer.alloc(0);
  return Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(from + length)]);
}

function percentEncoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** Encodes a path parameter; never empty, because that would be another path. */
function inPath(text: string, random: Random): string {
  if (/^[\w.-]+$/.test(text)) return text;
  return random.chance(0.1) ? random.pick(['%ED%A0%80', '%FF', '%zz', '%', '%2e%2e%2f']) : percentEncoded(text || '%');
}

/** Text as a header can carry it: UTF-8 bytes without control characters. */
function headerText(text: string): string {
  return Buffer.from(text.slice(0, 4_000))
    .toString('latin1')
    .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}

function hostileHeader(random: Random): string {
  return headerText(hostileText(random));
}
