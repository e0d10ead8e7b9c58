/** An answer's content whatever its format: JSON numbers are kept as their digits, XML text as strings. */
export type AnswerValue = null | boolean | string | AnswerValue[] | AnswerFields;
export interface AnswerFields {
  [name: string]: AnswerValue;
}

/** A field whatever its casing (`eNCF`, `encf`, `Encf`); undefined if there is none. */
export function field(value: AnswerValue | undefined, name: string): AnswerValue | undefined {
  if (!isFields(value)) return undefined;
  const wanted = name.toLowerCase();
  const key = Object.keys(value).find((candidate) => candidate.toLowerCase() === wanted);
  return key === undefined ? undefined : value[key];
}

/** A field's text, trimmed; null if it is absent, null, blank or no single value. */
export function textField(value: AnswerValue | undefined, name: string): string | null {
  return textOf(field(value, name));
}

export function textOf(value: AnswerValue | undefined): string | null {
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return null;
  // PostgreSQL takes no NUL in text.
  const text = value.replaceAll('\0', '').trim();
  return text === '' ? null : text;
}

export function booleanField(value: AnswerValue | undefined, name: string): boolean | null {
  const text = textField(value, name)?.toLowerCase();
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : null;
}

export function isFields(value: AnswerValue | undefined): value is AnswerFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The records of a list that may come as an array, as one single record, or wrapped in an element per level (XML). A value
 * with the field `mark` is a record. Undefined if the list has another value.
 */
export function records(value: AnswerValue | undefined, mark: string): AnswerFields[] | undefined {
  if (Array.isArray(value)) {
    const found = value.map((entry) => records(entry, mark));
    return found.every((entry) => entry !== undefined) ? found.flat() : undefined;
  }
  if (!isFields(value)) return undefined;
  if (field(value, mark) !== undefined) return [value];
  const wrapped = Object.values(value).filter((entry) => typeof entry === 'object' && entry !== null);
  const [only] = wrapped;
  return wrapped.length === 1 ? records(only, mark) : undefined;
}
