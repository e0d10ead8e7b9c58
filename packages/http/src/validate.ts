import { validationItems } from '@ecf/contracts';
import { InvalidRequest } from '@ecf/kit';
import type { z } from 'zod';

const MOST_ITEMS = 50;

/**
 * Checks an input by its schema. Throws 422 with one item per fault, whose `loc` begins with `place` (`body`, `query`,
 * `header`, `path`).
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, ...place: string[]): z.infer<S> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw new InvalidRequest(validationItems(result.error, input, ...place).slice(0, MOST_ITEMS));
}
