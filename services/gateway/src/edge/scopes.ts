import type { Operation, Scope } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';

/** 403 `missing_scope` unless the key has one of the scopes of the operation. */
export function requireScope(held: readonly Scope[], { id, scopes = [] }: Operation): void {
  if (scopes.some((scope) => held.includes(scope))) return;
  const [needed, ...others] = scopes;
  const alternatives = others.length === 0 ? '' : ` (or ${others.join(' or ')})`;
  throw new ApiError(
    403,
    'missing_scope',
    `This key lacks the scope ${needed}${alternatives}, which ${id} needs; it has ${held.join(', ')}. Use a key with that scope.`,
  );
}
