import type { AccountBody, ApiKeyBody, LogoFacts, TaxpayerBody } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { certificateBody } from './certificate-upload.js';
import type { Account, ApiKey, StoredLogoFacts, Taxpayer } from './ports.js';

/** Accounts and their parts as `/admin` answers them; times in Dominican time. */
export function accountBody({ id, name, active, createdAt }: Account): AccountBody {
  return { id, name, active, created_at: toIsoDominican(createdAt) };
}

export function taxpayerBody({ rnc, name, active, createdAt, certificate, logo, ranges }: Taxpayer): TaxpayerBody {
  return {
    rnc,
    name,
    active,
    created_at: toIsoDominican(createdAt),
    certificate: certificate === null ? null : certificateBody(certificate),
    logo: logo && logoFacts(logo),
    ranges,
  };
}

export function logoFacts({ contentType, width, height, sha256 }: StoredLogoFacts): LogoFacts {
  return { content_type: contentType, width, height, sha256 };
}

export function apiKeyBody({ id, name, hint, createdAt, lastUsedAt, revokedAt, ...key }: ApiKey): ApiKeyBody {
  return {
    id,
    name,
    ...apiKeyRights(key),
    hint,
    created_at: toIsoDominican(createdAt),
    last_used_at: timeOrNull(lastUsedAt),
    revoked_at: timeOrNull(revokedAt),
  };
}

/** The rights of a key and its expiry. */
export function apiKeyRights({
  environments,
  scopes,
  taxpayers,
  refuseWarnings,
  expiresAt,
}: Pick<ApiKey, 'environments' | 'scopes' | 'taxpayers' | 'refuseWarnings' | 'expiresAt'>) {
  return { environments, scopes, taxpayers, refuse_warnings: refuseWarnings, expires_at: timeOrNull(expiresAt) };
}

/** A time as `/admin` shows it. */
export function timeOrNull(time: Date | null): string | null {
  return time === null ? null : toIsoDominican(time);
}
