import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ADMIN_TOKEN_ACTOR, type AdminOperation, ROLES } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import type { SignInFailure, SignInFailures } from '../audit/ports.js';
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
export interface SignIn {
  withToken(token: string, sender: string): Promise<SignedInAdministrator | null>;
  /** The same for a token that signed in to the console, by its SHA-256; never ADMIN_TOKEN. */
  withHash(hash: Buffer, sender: string): Promise<SignedInAdministrator | null>;
}

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

  async function refuse(failure: Omit<SignInFailure, 'what'>): Promise<null> {
    failures.failed({ what: 'administrator', ...failure });
    await wrongTokens.failed(failure.sender);
    return null;
  }

  async function withHash(hash: Buffer, sender: string): Promise<SignedInAdministrator | null> {
    const found = await administrators.withToken(hash);
    if (found === null) return refuse({ reason: 'unknown', sender, known: null });
    const expired = found.expiresAt !== null && found.expiresAt <= clock();
    if (!found.deleted && !expired) return found;
    const known = { actor: found.name, target: administratorPath(found.id) };
    return refuse({ reason: found.deleted ? 'ended' : 'expired', sender, known });
  }

  return {
    async withToken(token, sender) {
      if (token === '') return refuse({ reason: 'missing', sender, known: null });
      const hash = hashAdminToken(token);
      return timingSafeEqual(hash, expected) ? HOLDER_OF_ADMIN_TOKEN : withHash(hash, sender);
    },
    withHash,
  };
}

/** The holder of ADMIN_TOKEN. */
export const HOLDER_OF_ADMIN_TOKEN: SignedInAdministrator = { id: null, name: ADMIN_TOKEN_ACTOR, role: 'owner' };

/** 403 `missing_role` if the role is below the one of the operation. */
export function requireRole(
  { role }: SignedInAdministrator,
  { id, role: needed }: Pick<AdminOperation, 'id' | 'role'>,
): void {
  if (needed === null || ROLES.indexOf(role) >= ROLES.indexOf(needed)) return;
  const detail = `${id} needs the role ${needed}; you are ${role}. Have somebody with that role do it.`;
  throw new ApiError(403, 'missing_role', detail);
}
