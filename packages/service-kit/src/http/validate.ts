import type { ValidationItem } from '@ecf/contracts';
import type { z } from 'zod';
import { InvalidRequest } from './errors.js';

const MOST_ITEMS = 50;

/**
 * Checks an input by its schema. Throws 422 with one item per fault, whose `loc` begins with `place` (`body`, `query`,
 * `header`, `path`).
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, ...place: string[]): z.infer<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new InvalidRequest(result.error.issues.slice(0, MOST_ITEMS).flatMap((issue) => items(issue, input, place)));
}

function items(issue: z.core.$ZodIssue, input: unknown, place: readonly string[]): ValidationItem[] {
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
