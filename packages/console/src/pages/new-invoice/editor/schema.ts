/** A JSON Schema as the gateway writes those of documents. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly const?: string;
}

/** The schema of the object or value that the names lead to, lists left out; null where it does not know one of them. */
export function schemaAt(root: Schema, names: readonly string[]): Schema | null {
  let schema = root;
  for (const name of names) {
    const property = schema.properties?.[name];
    if (property === undefined) return null;
    schema = resolved(root, property);
  }
  return schema;
}

/** The codes that a value may have. */
export function codesOf(schema: Schema): readonly string[] {
  return schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
}

/** Follows references, and goes from a list to its entries. */
function resolved(root: Schema, schema: Schema): Schema {
  if (schema.items !== undefined) return resolved(root, schema.items);
  const named = root.$defs?.[schema.$ref?.slice(schema.$ref.lastIndexOf('/') + 1) ?? ''];
  return named === undefined ? schema : resolved(root, named);
}
