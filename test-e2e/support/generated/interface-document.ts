import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { RawAnswer } from '../raw-request.js';

/** The parts of an OpenAPI document that tests use, with resolved references. */
export interface DescribedParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: object;
  example: unknown;
}
export interface DescribedMedia {
  schema: JsonSchema;
  example?: unknown;
  /** The examples of an error, by its code. */
  examples?: Record<string, unknown>;
}
export interface DescribedAnswer {
  headers?: Record<string, { required: boolean; schema: object }>;
  content?: Record<string, DescribedMedia>;
}
export interface DescribedOperation {
  id: string;
  method: string;
  path: string;
  security: Record<string, unknown>[];
  parameters: DescribedParameter[];
  body: Record<string, DescribedMedia>;
  answers: Record<string, DescribedAnswer>;
}
// biome-ignore lint/suspicious/noExplicitAny: a schema is walked through freely
export type JsonSchema = any;

/** Headers of HTTP itself, which descriptions do not list. */
const OF_HTTP = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']);

/** The code of a refusal; empty if it has none. */
export function failureCode({ body }: RawAnswer): string {
  try {
    return String(JSON.parse(body.toString()).code ?? '');
  } catch {
    return '';
  }
}

/**
 * The document with every property of an answer described: a client must accept further properties, but a test names a
 * property that the description lacks.
 */
function closed(value: JsonSchema): JsonSchema {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, closed(entry)]));
  return value.type === 'object' && value.properties !== undefined && value.additionalProperties === undefined
    ? { ...entries, additionalProperties: false }
    : entries;
}

/** An OpenAPI document, with checks of answers against it. */
export class InterfaceDocument {
  readonly operations: DescribedOperation[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #checks = new Map<string, ValidateFunction>();

  // biome-ignore lint/suspicious/noExplicitAny: the document as below
  private readonly document: any;

  // biome-ignore lint/suspicious/noExplicitAny: the document comes from the wire
  constructor(served: any) {
    const document = closed(served);
    this.document = document;
    (formats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addFormat('binary', true);
    this.#ajv.addSchema({ $id: 'document', components: document.components });
    this.operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries<JsonSchema>(methods as object).map(([method, operation]) => ({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        security: operation.security,
        parameters: operation.parameters,
        body: this.#expanded(operation.requestBody?.content ?? {}),
        answers: Object.fromEntries(
          Object.entries<JsonSchema>(operation.responses).map(([status, answer]) => [status, this.#answer(answer)]),
        ),
      })),
    );
  }

  /** The target of `$ref`. */
  resolve(value: JsonSchema): JsonSchema {
    if (typeof value?.$ref !== 'string') return value;
    return (value.$ref as string)
      .slice(2)
      .split('/')
      .reduce((at, part) => at[part], this.document);
  }

  /** The value with its references replaced by their targets; request bodies are nested, never recursive. */
  #expanded(value: JsonSchema): JsonSchema {
    if (Array.isArray(value)) return value.map((entry) => this.#expanded(entry));
    if (typeof value !== 'object' || value === null) return value;
    if (typeof value.$ref === 'string') return this.#expanded(this.resolve(value));
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, this.#expanded(entry)]));
  }

  #answer(answer: JsonSchema): DescribedAnswer {
    const { headers = {}, content } = this.resolve(answer);
    const resolved = Object.entries(headers).map(([name, header]) => [name, this.resolve(header)]);
    return { headers: Object.fromEntries(resolved), ...(content === undefined ? {} : { content }) };
  }

  /** The violations of a value against a schema of the document; null without violations. */
  faultsOf(schema: object, value: unknown): string | null {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    let check = this.#checks.get(text);
    if (check === undefined) {
      check = this.#ajv.compile(JSON.parse(text));
      this.#checks.set(text, check);
    }
    return check(value) ? null : this.#ajv.errorsText(check.errors);
  }

  /** Everything about an answer that the document does not describe for the operation. */
  undocumented(operation: DescribedOperation, answer: RawAnswer, withoutBody = false): string[] {
    const described = operation.answers[String(answer.status)];
    if (described === undefined) return [`status ${answer.status}: ${answer.body.toString().slice(0, 300)}`];
    // Every description has a 503, but a complete deployment has no reason for one.
    const problems = answer.status >= 500 ? [`${answer.status}: ${answer.body}`] : [];
    for (const [name, { required, schema }] of Object.entries(described.headers ?? {})) {
      const value = answer.headers[name];
      if (value === undefined && required) problems.push(`header ${name} is missing`);
      const faults = value === undefined ? null : this.faultsOf(schema, String(value));
      if (faults !== null) problems.push(`header ${name}: ${value}: ${faults}`);
    }
    for (const name of Object.keys(answer.headers))
      if (!OF_HTTP.has(name) && !(name in (described.headers ?? {}))) problems.push(`header ${name} is not described`);
    return withoutBody ? problems : [...problems, ...this.#body(described, answer)];
  }

  #body({ content }: DescribedAnswer, { headers, body }: RawAnswer): string[] {
    if (content === undefined)
      return body.length === 0 ? [] : [`a body where none is described: ${body.subarray(0, 100)}`];
    const type = (headers['content-type'] ?? '').split(';')[0]?.trim() ?? '';
    const media = content[type];
    if (media === undefined) return [`content type ${type} is not described`];
    if (type !== 'application/json') return body.length > 0 ? [] : ['an empty body'];
    try {
      const value = JSON.parse(body.toString());
      if (media.examples !== undefined && !(value.code in media.examples)) return [`code ${value.code} is not described`];
      const faults = this.faultsOf(media.schema, value);
      return faults === null ? [] : [`${faults}: ${body.subarray(0, 600)}`];
    } catch (error) {
      return [`no JSON: ${error}: ${body.subarray(0, 200)}`];
    }
  }
}
