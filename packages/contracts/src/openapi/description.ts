import type { z } from 'zod';
import type { ErrorCode } from '../error-codes.js';

/** A JSON Schema (draft 2020-12), as OpenAPI 3.1 uses it. */
export type JsonSchema = { [keyword: string]: unknown };

/** A parameter of an operation; its name in the document is `name`. */
export interface ParameterDescription {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required: boolean;
  readonly schema: z.ZodType;
  readonly description: string;
  readonly example: string | number | boolean;
}

/** A body in one media type. */
export interface ContentDescription {
  /** A zod schema that is named in `COMPONENT_SCHEMAS`, or a JSON Schema of its own. */
  readonly schema: z.ZodType | JsonSchema;
  readonly example: unknown;
  /** The content types that each part of a form may have. */
  readonly encoding?: Readonly<Record<string, { contentType: string }>>;
}

export type Content = Readonly<Record<string, ContentDescription>>;

/** A header of an answer, beside the common ones. */
export interface HeaderDescription {
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly example: string;
}

export interface AnswerDescription {
  readonly description: string;
  /** Absent if the answer has no body. */
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, HeaderDescription>>;
}

/** The description of an operation, beyond method, path and access. */
export interface OperationDescription {
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterDescription[];
  readonly body?: { readonly required: boolean; readonly description?: string; readonly content: Content };
  /** By status. `errors` has the errors; a status in both may be either. */
  readonly answers: Readonly<Record<number, AnswerDescription>>;
  /** Whether the answer is one object with an ETag: a caller that has it gets 304. */
  readonly hasEtag?: boolean;
  /** Codes beyond those of every operation. */
  readonly errors?: readonly ErrorCode[];
}

/** JSON in the answer. */
export function json(schema: z.ZodType | JsonSchema, example: unknown): Content {
  return { 'application/json': { schema, example } };
}

/** The rows of the answer in CSV, for `Accept: text/csv`. */
export function csv(columns: readonly string[]): Content {
  const description =
    'RFC 4180 with a line of names; lists and objects are JSON text. A listing has all rows of the period.';
  return { 'text/csv': { schema: { type: 'string', description }, example: `${columns.join(',')}\r\n` } };
}

/** An XML document in the answer. */
export function xml(example: string): Content {
  return { 'application/xml': { schema: { type: 'string' }, example } };
}
