import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { adminOpenApiDocument, errorBodySchema, OPERATIONS, openApiDocument } from '../src/index.js';

// biome-ignore lint/suspicious/noExplicitAny: the documents are walked through freely
const documents: [string, any][] = [
  ['public', JSON.parse(JSON.stringify(openApiDocument()))],
  ['admin', JSON.parse(JSON.stringify(adminOpenApiDocument()))],
];

interface Described {
  readonly name: string;
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Record<string, object>;
}

/** A value of the document, or the target of its reference. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function resolved(document: any, value: any): any {
  if (typeof value?.$ref !== 'string') return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((at: Record<string, unknown>, part: string) => at[part], document);
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function operationsOf(document: any): any[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, operation]) => ({ path, method, ...operation })),
  );
}

/** The values of the examples of a body. */
function examplesOf(document: unknown, { example, examples }: Pick<Described, 'example' | 'examples'>): unknown[] {
  if (examples === undefined) return [example];
  return Object.values(examples).map((named) => resolved(document, named).value);
}

/** The properties below a value that have no description. */
function undescribedProperties(place: string, value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, entry]) => {
    if (key === 'example' || key === 'examples') return [];
    if (key !== 'properties') return undescribedProperties(`${place}.${key}`, entry);
    const without = Object.entries<{ description?: string }>(entry).filter(([, property]) => !property.description);
    return [...without.map(([name]) => `${place}.${name}`), ...undescribedProperties(place, entry)];
  });
}

describe.each(documents)('the %s document', (_name, document) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (formats as unknown as (instance: Ajv2020) => void)(ajv);
  for (const name of ['binary', 'password']) ajv.addFormat(name, true);
  ajv.addSchema({ $id: 'document', components: document.components });
  const checks = new Map<string, ReturnType<typeof ajv.compile>>();
  const faultsOf = (schema: object, value: unknown) => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
    const check = checks.get(text) ?? ajv.compile(JSON.parse(text));
    checks.set(text, check);
    return check(value) ? null : check.errors;
  };

  it('is OpenAPI 3.1 to an independent validator', async () => {
    const verdict = await new Validator().validate(structuredClone(document));
    expect(verdict).toMatchObject({ valid: true });
    expect(document.openapi).toBe('3.1.0');
  });

  it.each(operationsOf(document).map((operation) => [`${operation.method} ${operation.path}`, operation]))(
    'has examples that hold: %s',
    (_place, { parameters, requestBody = {}, responses }) => {
      const held = parameters.map((one: Described) => ({ name: one.name, faults: faultsOf(one.schema, one.example) }));
      const answers = Object.values(responses).map((answer) => resolved(document, answer));
      const headers = answers.flatMap((answer) => Object.entries(answer.headers));
      for (const [name, header] of headers) {
        const { schema, example } = resolved(document, header);
        held.push({ name, faults: faultsOf(schema, example) });
      }
      const media = [requestBody, ...answers].flatMap(({ content = {} }) => Object.entries<Described>(content));
      for (const [name, { schema, example, examples }] of media)
        for (const value of examplesOf(document, { example, examples }))
          held.push({ name, faults: value === undefined ? 'no example' : faultsOf(schema, value) });
      expect(held.filter(({ faults }: { faults: unknown }) => faults !== null)).toEqual([]);
    },
  );

  it('names components by what they are', () => {
    const named = Object.values(document.components).flatMap((group) => Object.keys(group as object));
    expect(named.filter((name) => /^\d|_\d/.test(name))).toEqual([]);
    expect(Object.keys(document.components.responses)).toContain('UnsupportedMediaType');
  });

  it('forbids no further property of an answer, and uses formats that exist', () => {
    const text = JSON.stringify([
      operationsOf(document).map(({ responses }) => responses),
      document.components.responses,
    ]);
    const answered = [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name]) => name as string);
    const closed = answered.filter((name) =>
      JSON.stringify(document.components.schemas[name]).includes('"additionalProperties":false'),
    );
    expect([...new Set(closed)]).toEqual([]);
    expect(text).not.toContain('"additionalProperties":false');
    expect(JSON.stringify(document)).not.toContain('starts_with');
  });

  it('describes every operation, parameter and property', () => {
    const undescribed = undescribedProperties('schemas', document.components.schemas);
    for (const { operationId, description = '', parameters, requestBody, responses } of operationsOf(document)) {
      if (/^(Scope of|Role:|$)/.test(description)) undescribed.push(operationId);
      for (const one of parameters) if (!one.description) undescribed.push(`${operationId} ${one.name}`);
      undescribed.push(...undescribedProperties(operationId, { requestBody, responses }));
    }
    expect(undescribed).toEqual([]);
  });

  it('names every operation once, all its statuses, and no default answer', () => {
    const ids = operationsOf(document).map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { responses, path, parameters, security } of operationsOf(document)) {
      const statuses = Object.keys(responses);
      expect(statuses).not.toContain('default');
      expect(statuses.every((status) => /^\d{3}$/.test(status))).toBe(true);
      expect(statuses).toEqual(expect.arrayContaining(['500', '503']));
      const inPath = parameters.filter((one: { in: string }) => one.in === 'path');
      expect(inPath.map(({ name }: { name: string }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(security.length <= 1).toBe(true);
    }
  });
});

/** An approval that is refused is answered as the authority's specification says. */
const OTHER_ERRORS = ['receiveApproval 400'];

describe.each(documents)('every error of the %s document', (_name, document) => {
  const errors = operationsOf(document).flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, answer]) => ({ place: `${operationId} ${status}`, answer: resolved(document, answer) })),
  );

  it('has the one error body, in its schema and in its examples', () => {
    const fields = Object.keys(errorBodySchema.shape);
    const others = errors.filter(({ answer }) => {
      const { schema, example, examples } = answer.content['application/json'];
      const values = examplesOf(document, { example, examples });
      const { required = [] } = resolved(document, schema);
      const isWhole = fields.every((field) => required.includes(field));
      return !isWhole || !values.every((value) => errorBodySchema.safeParse(value).success);
    });
    expect(errors.length).toBeGreaterThan(100);
    expect(others.map(({ place }) => place).filter((place) => !OTHER_ERRORS.includes(place))).toEqual([]);
  });
});

describe('the public document', () => {
  const [, document] = documents[0] as [string, (typeof documents)[0][1]];

  it('requires a key exactly if the table of operations does', () => {
    for (const { id, path, method, access } of OPERATIONS) {
      const { operationId, security } = document.paths[path][method.toLowerCase()];
      expect({ operationId, security }).toEqual({
        operationId: id,
        security: access === 'key' ? [{ apiKey: [] }] : [],
      });
    }
  });

  it('has the statuses of the specification', () => {
    const statuses = (path: string, method = 'get') => Object.keys(document.paths[path][method].responses);
    expect(statuses('/obtain_token')).toEqual(expect.arrayContaining(['200', '404', '422', '502', '503']));
    expect(statuses('/invoice-status/{track_id}')).toEqual(expect.arrayContaining(['200', '401', '404', '422']));
    expect(statuses('/{encf}/xml')).toEqual(expect.arrayContaining(['200', '400', '404', '422']));
    expect(statuses('/fe_Submit', 'post')).toEqual(expect.arrayContaining(['200', '400', '401', '404', '422', '503']));
    expect(statuses('/submit_ecf', 'post')).toEqual(expect.arrayContaining(['200', '400', '401', '404', '408', '422']));
    expect(statuses('/submit_fc', 'post')).toEqual(expect.arrayContaining(['200', '400', '401', '404', '422']));
    for (const path of ['/anecf', '/acecf'])
      expect(statuses(path, 'post')).toEqual(expect.arrayContaining(['201', '422']));
    expect(statuses('/fe/recepcion/api/ecf', 'post')).toEqual(expect.arrayContaining(['200', '404', '422', '500']));
    expect(statuses('/fe/aprobacioncomercial/api/ecf', 'post')).toEqual(
      expect.arrayContaining(['200', '400', '404', '422']),
    );
    expect(statuses('/arecf/{encf}')).toEqual(expect.arrayContaining(['200', '400', '404', '422']));
  });
});

it('the page of operations names each operation once, correctly, with tests that call it', () => {
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) `([^`]+)` \| ([\w-]+) \| (.+) \|$/gm)].map(
    ([, id, method, path, owner, tests]) => ({ id, method, path, owner, tests: tests as string }),
  );
  expect(rows.map(({ tests: _, ...row }) => row)).toEqual(
    OPERATIONS.map(({ id, method, path, owner }) => ({ id, method, path, owner })),
  );
  for (const { id, path, tests } of rows) {
    const files = [...tests.matchAll(/\]\(([^)]+)\)/g)].map(([, file]) =>
      readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8'),
    );
    // A test may call it through a support function, so one file with the address is enough.
    const literal = path?.split('{').find((part) => part.length > 1) as string;
    const calls = ['submitJson', 'submitSigned', 'submitSignedSummary'].includes(id as string) ? /submit/i : literal;
    expect({
      id,
      called: files.some((text) => (typeof calls === 'string' ? text.includes(calls) : calls.test(text))),
    }).toEqual({ id, called: true });
  }
});
