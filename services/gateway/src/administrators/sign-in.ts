import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ADMIN_TOKEN_ACTOR, type AdminOperation, ROLES } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import type { SignInFailures } from '../audit/ports.js';
import { administratorPath } from '../audit/targets.js';
import type { FailureLimit } from '../edge/ports.js';
import type { AdministratorStore, SignedInAdministrator } from './ports.js';

/** A new token with 256 random bits. */
export function makeAdminToken(random: (bytes: number) => Buffer = randomBytes): string {
  return `ecf_admin_${random(32).toString('base64url')}`;
}

/** The stored hash. One round of SHA-256 is enough for 256 random bits, which cannot be guessed. */
export function hashAdminToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Finds who holds a token. Null = unknown, deleted or expired; rejects with 429 if the sender failed too often. */
export type SignIn = (token: string, sender: string) => Promise<SignedInAdministrator | null>;

export interface SignInPorts {
  administrators: Pick<AdministratorStore, 'withToken'>;
  /** ADMIN_TOKEN of the configuration, with the role of an owner. */
  adminToken: string;
  /** Keyed by address. */
  wrongTokens: FailureLimit;
  clock: () => Date;
  failures: Pick<SignInFailures, 'failed'>;
}

/**
 * Compares digests, so that the time shows neither content nor length of ADMIN_TOKEN. Every sign-in looks the
 * administrator up, so a deletion is effective immediately. Only wrong tokens are limited: otherwise anybody behind the
 * address of the operators could lock them out.
 */
export function createSignIn({ administrators, adminToken, wrongTokens, clock, failures }: SignInPorts): SignIn {
  const expected = hashAdminToken(adminToken);
  return async (token, sender) => {
    const hash = hashAdminToken(token);
    if (timingSafeEqual(hash, expected)) return { id: null, name: ADMIN_TOKEN_ACTOR, role: 'owner' };
    const found = token === '' ? null : await administrators.withToken(hash);
    const expired = found !== null && found.expiresAt !== null && found.expiresAt <= clock();
    if (found !== null && !found.deleted && !expired) return found;
    const known = found === null ? null : { actor: found.name, target: administratorPath(found.id) };
    const ended = found?.deleted ? 'ended' : 'expired';
    const reason = token === '' ? 'missing' : found === null ? 'unknown' : ended;
    failures.failed({ what: 'administrator', reason, sender, known });
    await wrongTokens.failed(sender);
    return null;
  };
}

/** 403 `missing_role` if the role is below the one of the operation. */
export function requireRole(
  { role }: SignedInAdministrator,
  { id, role: needed }: Pick<AdminOperation, 'id' | 'role'>,
): void {
  if (needed === null || ROLES.indexOf(role) >= ROLES.indexOf(needed)) return;
  const detail = `${id} needs the role ${needed}; you are ${role}. Have somebody with that role do it.`;
  throw new ApiError(403, 'missing_role', detail);
}
