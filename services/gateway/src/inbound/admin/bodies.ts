import type { AccountBody, ApiKeyBody, CertificateFactsBody, TaxpayerBody } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import type { Account, ApiKey, CertificateFacts, Taxpayer } from '../../core/ports.js';

/** Accounts and their parts as `/admin` answers them; times in Dominican time. */
export function accountBody({ id, name, active, createdAt }: Account): AccountBody {
  return { id, name, active, created_at: toIsoDominican(createdAt) };
}

export function certificateBody(facts: CertificateFacts): CertificateFactsBody {
  return {
    subject: facts.subject,
    serial_number: facts.serialNumber,
    not_before: toIsoDominican(facts.notBefore),
    not_after: toIsoDominican(facts.notAfter),
    fingerprint: facts.fingerprint,
  };
}

export function taxpayerBody({ rnc, name, active, createdAt, certificate, ranges }: Taxpayer): TaxpayerBody {
  return {
    rnc,
    name,
    active,
    created_at: toIsoDominican(createdAt),
    certificate: certificate === null ? null : certificateBody(certificate),
    ranges,
  };
}

export function apiKeyBody({ id, name, environments, hint, createdAt, revokedAt }: ApiKey): ApiKeyBody {
  return {
    id,
    name,
    environments,
    hint,
    created_at: toIsoDominican(createdAt),
    revoked_at: revokedAt === null ? null : toIsoDominican(revokedAt),
  };
}
