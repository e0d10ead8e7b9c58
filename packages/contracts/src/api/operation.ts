import { z } from 'zod';
import type { ErrorCode } from '../error-codes.js';
import type { ServiceName } from '../services.js';
import type { Role, Scope } from './key-rights.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Zod schemas by the name of a parameter or header. Each has a description; an optional one is not required. */
export type Fields = Readonly<Record<string, z.ZodType>>;
/** A body: JSON of one schema, or a schema for each media type. */
export type Body = z.ZodType | Readonly<Record<string, z.ZodType>>;

/** An operation: what it takes and returns. */
export interface OwnOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: HttpMethod;
  /** `{name}` is a variable part. No slash at the end; it is optional on every route. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** The variable parts of the path. */
  readonly params?: Fields;
  readonly query?: Fields;
  readonly headers?: Fields;
  readonly body?: Body;
  /** The status of success; 200 by default. */
  readonly status?: number;
  /** The body of success. Its description is that of the response. */
  readonly response?: Body;
  readonly responseHeaders?: Fields;
  /** Responses of other statuses whose body is not the error body alone. */
  readonly otherResponses?: Readonly<Record<number, z.ZodType>>;
  /** The response is one object with an ETag: a caller that has it gets 304. */
  readonly hasEtag?: true;
  /** Error codes beyond those of every operation. */
  readonly errors?: readonly ErrorCode[];
}

/** An operation of the public interface. */
export interface Operation extends OwnOperation {
  /** The service that answers. */
  readonly owner: ServiceName;
  /** `key`: needs x-api-key. `public`: called by other taxpayers and the authority, needs no key, matches in any case. */
  readonly access: 'key' | 'public';
  /** The key needs one of these scopes; absent on public operations. A GET is also open to the scope that makes its objects. */
  readonly scopes?: readonly Scope[];
  /** The body's `authority_environment` counts if the header `env` is absent. */
  readonly environmentInBody?: true;
  /** Concerns the account itself: the header `env` does not count. */
  readonly withoutEnvironment?: true;
  /** Largest body in bytes, where it is not MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number;
}

/** An operation of the administration, and the least role that it needs; null = open to everybody. */
export interface AdminOperation extends OwnOperation {
  readonly role: Role | null;
}

/** A row of a table: `route` is the method and the path, `GET /batches/{batch_id}`. */
type Row<O extends OwnOperation> = Omit<O, 'id' | 'tag' | 'method' | 'path' | 'owner' | 'access'> & {
  readonly route: `${HttpMethod} /${string}`;
  /** Where it is not that of the table. */
  readonly tag?: string;
};
type Rows<O extends OwnOperation> = Readonly<Record<string, Row<O>>>;

/** The operations of a table, from a row for each id. */
export function operations<O extends OwnOperation = OwnOperation>(tag: string, rows: Rows<O>): readonly O[] {
  return Object.entries(rows).map(([id, { route, ...row }]) => {
    const [method, path] = route.split(' ');
    return { id, tag, method, path, ...row } as unknown as O;
  });
}

/** Operations of the public interface that one service answers. Those without scopes need no key. */
export function publicOperations(tag: string, owner: ServiceName, rows: Rows<Operation>): readonly Operation[] {
  return operations<Operation>(tag, rows).map((row) => ({
    ...row,
    owner,
    access: row.scopes === undefined ? 'public' : 'key',
  }));
}

/** An XML document in a response. */
export const xml = (description: string, example: string) => ({
  'application/xml': z.string().meta({ description, examples: [example] }),
});

/** Error codes of printed forms. */
export const PRINT_ERRORS = [
  'not_found',
  'taxpayer_not_found',
  'document_damaged',
  'not_printable',
  'overloaded',
  'service_unavailable',
] as const satisfies readonly ErrorCode[];

/** A printed form in a response. */
export const pdf = (description: string) => ({
  'application/pdf': z.string().meta({ description, format: 'binary' }),
});

/** The rows of a JSON list or sum as CSV too, for `Accept: text/csv`. */
export const jsonOrCsv = (schema: z.ZodType, columns: readonly string[]) => ({
  'application/json': schema,
  'text/csv': z.string().meta({
    description: 'RFC 4180 with a header line; lists and objects are JSON text. A listing has all rows of the period.',
    examples: [`${columns.join(',')}\r\n`],
  }),
});

/** The form of the routes for other taxpayers: a signed document in the part `xml`. */
export const xmlForm = (description: string, example: string) => ({
  'multipart/form-data': z.object({ xml: z.file().meta({ description, examples: [example] }) }).meta({
    encoding: { xml: { contentType: 'text/xml, application/xml, application/octet-stream' } },
  }),
});

/** A text header of a response. */
export const header = (description: string, example: string) => z.string().meta({ description, examples: [example] });

/** Holds for every route for other taxpayers. */
export const PUBLIC_ROUTE =
  'Needs no key and ignores one. The path matches in any case, with or without the accent of `recepción`, and with a prefix `/testecf`, `/certecf` or `/ecf` that names the environment.';

/** Error codes of operations that sign. */
export const CERTIFICATE_ERRORS = [
  'certificate_missing',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_unusable',
] as const;
/** Error codes of operations that query the authority while the caller waits. */
export const AUTHORITY_ERRORS = ['login_refused', 'authority_unreachable', 'authority_unreadable'] as const;
/** Error codes of operations that take JSON. */
export const BODY_ERRORS = ['invalid_json', 'not_utf8', 'unsupported_media_type', 'validation_error'] as const;

/** A parameter that may be left out. */
export const optional = <S extends z.ZodType>(schema: S, description: string, example: string | number) =>
  schema.optional().meta({ description, examples: [example] });
