import type { z } from 'zod';
import type { ValidationItem } from './error-body.js';

/**
 * The items of a 422: one for each fault that a schema found in `input`.
 *
 * @param place where the input was: `body`, `query`, `header` or `path`; the `loc` of each item begins with it
 */
export function validationItems(error: z.ZodError, input: unknown, ...place: string[]): ValidationItem[] {
  return error.issues.flatMap((issue) => itemsOf(issue, input, place));
}

function itemsOf(issue: z.core.$ZodIssue, input: unknown, place: readonly string[]): ValidationItem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      loc: [...place, ...path, key],
      msg: 'This field does not exist here; remove it.',
      type: 'unknown',
    }));
  if (valueAt(input, path) === undefined) {
    // A rule between fields says why this one is required.
    const msg = issue.code === 'custom' ? issue.message : 'This field is required.';
    return [{ loc: [...place, ...path], msg, type: 'missing' }];
  }
  return [{ loc: [...place, ...path], msg: issue.message, type: TYPES[issue.code] ?? 'value' }];
}

const TYPES: Partial<Record<z.core.$ZodIssue['code'], string>> = {
  invalid_type: 'type',
  invalid_value: 'enum',
  invalid_format: 'format',
  too_small: 'too_small',
  too_big: 'too_big',
};

function valueAt(input: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (value as Record<string | number, unknown> | null | undefined)?.[part],
    input,
  );
}
