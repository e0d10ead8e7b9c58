import { hostileValue } from './hostile-values.js';
import type { JsonSchema } from './interface-document.js';
import type { Random } from './random.js';

type Holder = Record<string, unknown>;

/** A body with one field that the minimal one leaves out. */
export interface WithField {
  field: string;
  body: unknown;
}

/**
 * Bodies with one optional property added: each optional property with valid values and with others.
 *
 * @param make a valid body, created anew for each
 * @param schema its schema, without references
 */
export function* withOptionalFields(make: () => unknown, schema: JsonSchema, random: Random): Generator<WithField> {
  const fields = placesIn(make(), schema, []).map(({ path, name }) => ({ path, name }));
  for (const { path, name } of fields)
    for (let index = 0; index < 4; index += 1) {
      const body = make();
      const place = placesIn(body, schema, []).find((one) => one.name === name && same(one.path, path));
      if (place === undefined) continue;
      place.holder[name] = index < 2 ? sample(place.schema, random) : hostileValue(random);
      yield { field: [...path, name].join('.'), body };
    }
}

/** The body with every missing optional property, each with a valid value. */
export function withAllOptionalFields(body: unknown, schema: JsonSchema, random: Random): unknown {
  for (const { holder, name, schema: property } of placesIn(body, schema, [])) holder[name] = sample(property, random);
  return body;
}

interface Place {
  path: readonly string[];
  holder: Holder;
  name: string;
  schema: JsonSchema;
}

/** The properties of the schema that the value lacks. */
function placesIn(value: unknown, schema: JsonSchema, path: readonly string[]): Place[] {
  if (Array.isArray(value))
    return value.slice(0, 1).flatMap((entry) => placesIn(entry, schema.items ?? {}, [...path, '0']));
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Holder;
  return Object.entries<JsonSchema>(schema.properties ?? {}).flatMap(([name, property]) =>
    name in holder
      ? placesIn(holder[name], property, [...path, name])
      : [{ path, holder, name, schema: property } satisfies Place],
  );
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.join('.') === other.join('.');
}

/** A value that fits the schema, as far as its keywords are supported here. */
function sample(schema: JsonSchema, random: Random): unknown {
  if (schema.anyOf !== undefined) return sample(random.pick(schema.anyOf as JsonSchema[]), random);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum as unknown[]);
  if (schema.type === 'null') return null;
  if (schema.type === 'integer' || schema.type === 'number') return (schema.minimum ?? 1) + random.below(3);
  if (schema.type === 'array') return [];
  if (schema.type === 'boolean') return random.chance(0.5);
  if (schema.type === 'object') return {};
  return random.pick(['x', 'ñandú €', '2026-06-15', '2026-06-15T10:00:05-04:00', '👩‍👩‍👧‍👦', 'x'.repeat(250)]);
}
