import { sqlState } from '@ecf/service-kit/postgres';
import { Unwritable } from './errors.js';

/** Classes of SQLSTATE: data exception, integrity constraint, program limit. Another try fails again. */
const REFUSED_VALUE = ['22', '23', '54'];

/** Rethrows the error of a write, as {@link Unwritable} where PostgreSQL refuses the value. */
export function unwritable(error: unknown): never {
  if (!REFUSED_VALUE.includes(sqlState(error)?.slice(0, 2) ?? '')) throw error;
  throw new Unwritable(error instanceof Error ? error.message : String(error), { cause: error });
}
