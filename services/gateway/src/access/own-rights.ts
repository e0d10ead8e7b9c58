import { ENVIRONMENTS, type Environment, toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/kit';
import type { ApiKey } from '../accounts/ports.js';
import type { KeyHolder } from './ports.js';

/** The rights of an API key. */
export type Rights = Pick<ApiKey, 'environments' | 'scopes' | 'taxpayers' | 'expiresAt'>;

/** The key that changes settings of its account; null for an administrator, who has every right. */
export type Manager = Pick<KeyHolder, 'keyId' | 'accountId' | 'environments' | 'scopes' | 'taxpayers' | 'expiresAt'>;

/** Whether the manager sees the taxpayer. */
export function seesTaxpayer(manager: Manager | null, rnc: string): boolean {
  return manager === null || manager.taxpayers === null || manager.taxpayers.includes(rnc);
}

/** The environments whose settings the manager sees and replaces. */
export function ownEnvironments(manager: Manager | null): readonly Environment[] {
  return manager?.environments ?? ENVIRONMENTS;
}

/** Whether the manager sees an object of these environments: it has each of them. */
export function seesEnvironments(manager: Manager | null, environments: readonly Environment[]): boolean {
  return environments.every((env) => ownEnvironments(manager).includes(env));
}

/** Whether the manager sees a key: it has each of its environments, and serves each of its taxpayers. */
export function seesKey(
  manager: Manager | null,
  { environments, taxpayers }: Pick<Rights, 'environments' | 'taxpayers'>,
) {
  if (!seesEnvironments(manager, environments)) return false;
  if (manager === null || manager.taxpayers === null) return true;
  return taxpayers?.every((rnc) => seesTaxpayer(manager, rnc)) ?? false;
}

/** 403 `beyond_own_rights` for environments that the manager lacks. */
export function requireOwnEnvironments(manager: Manager | null, environments: readonly Environment[]): void {
  if (manager === null || seesEnvironments(manager, environments)) return;
  throw beyond(`environments that it lacks; name only ${manager.environments.join(', ')}`);
}

/** 403 `beyond_own_rights` for a setting of all environments (`a certificate, which ...`) if the manager does not have eCF. */
export function requireForProduction(manager: Manager | null, setting: string): void {
  if (manager === null || manager.environments.includes('eCF')) return;
  throw beyond(`${setting}; use a key for eCF`);
}

/** 403 `beyond_own_rights` unless the manager may read what webhooks get: the events of all taxpayers of the account. */
export function requireEvents(manager: Manager | null): void {
  if (manager === null) return;
  if (manager.taxpayers !== null)
    throw beyond('webhooks, which get the events of taxpayers that it does not serve; use a key without taxpayers');
  if (!manager.scopes.includes('read'))
    throw beyond('webhooks, which get events; use a key that has the scope read too');
}

/** 403 `beyond_own_rights` for scopes that the manager lacks. */
export function requireOwnScopes(manager: Manager | null, { scopes }: Pick<Rights, 'scopes'>): void {
  if (manager === null) return;
  const lacking = scopes.filter((scope) => !manager.scopes.includes(scope));
  if (lacking.length > 0) throw beyond(`the scopes ${lacking.join(', ')}; its own are ${manager.scopes.join(', ')}`);
}

/** 403 `beyond_own_rights` if a key would have, or keep under a new secret, more rights than the manager. */
export function requireOwnRights(manager: Manager | null, rights: Rights): void {
  if (manager === null) return;
  requireOwnEnvironments(manager, rights.environments);
  requireOwnScopes(manager, rights);
  const { taxpayers, expiresAt } = manager;
  if (!seesKey(manager, rights))
    throw beyond(`taxpayers that it does not serve; name only RNCs among ${(taxpayers ?? []).join(', ')}`);
  if (expiresAt !== null && (rights.expiresAt === null || rights.expiresAt > expiresAt))
    throw beyond(`a key that expires later than itself, ${toIsoDominican(expiresAt)}`);
}

function beyond(what: string): ApiError {
  return new ApiError(403, 'beyond_own_rights', `This key may not change ${what}; an administrator may.`);
}
