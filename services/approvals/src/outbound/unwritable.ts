import { sqlState } from '@ecf/service-kit/postgres';
import { Unwritable } from '../core/errors.js';

/** Data exceptions, violated constraints, limits of the program: the same is refused each time. */
const REFUSED_ITSELF = ['22', '23', '54'];

/** Rethrows what a write failed with: as {@link Unwritable} where PostgreSQL refuses it for what it is, else as it came. */
export function unwritable(error: unknown): never {
  if (!REFUSED_ITSELF.includes(sqlState(error)?.slice(0, 2) ?? '')) throw error;
  throw new Unwritable(error instanceof Error ? error.message : String(error), { cause: error });
}
