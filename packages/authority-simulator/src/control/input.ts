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

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * A JSON object with known members only.
 *
 * @throws ControlRefused
 */
export function readObject(body: Buffer, members: readonly string[]): JsonObject {
  const value = readJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ControlRefused('The body has to be a JSON object.');
  }
  return onlyMembers(value as JsonObject, members, 'The body');
}

export function readJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    throw new ControlRefused('The body has to be JSON.');
  }
}

export function onlyMembers(object: JsonObject, members: readonly string[], what: string): JsonObject {
  const unknown = Object.keys(object).find((key) => !members.includes(key));
  if (unknown === undefined) return object;
  throw new ControlRefused(`${what} has no member ${JSON.stringify(unknown)}; known are ${members.join(', ')}.`);
}

/** Text of a member; undefined or null: absent. */
export function text(object: JsonObject, name: string): string | null {
  const value = object[name] ?? null;
  if (value === null || typeof value === 'string') return value;
  throw new ControlRefused(`${name} has to be text.`);
}

export function flag(object: JsonObject, name: string): boolean | null {
  const value = object[name] ?? null;
  if (value === null || typeof value === 'boolean') return value;
  throw new ControlRefused(`${name} has to be true or false.`);
}

export function wholeNumber(object: JsonObject, name: string, lowest: number, highest: number): number | null {
  const value = object[name] ?? null;
  if (value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= lowest && value <= highest) return value;
  throw new ControlRefused(`${name} has to be a whole number from ${lowest} to ${highest}.`);
}

export function list(object: JsonObject, name: string): readonly unknown[] | null {
  const value = object[name] ?? null;
  if (value === null || Array.isArray(value)) return value;
  throw new ControlRefused(`${name} has to be a list.`);
}

export function oneOf<T extends string>(object: JsonObject, name: string, values: readonly T[]): T {
  const value = object[name];
  if (typeof value === 'string' && (values as readonly string[]).includes(value)) return value as T;
  throw new ControlRefused(`${name} has to be one of ${values.join(', ')}.`);
}
