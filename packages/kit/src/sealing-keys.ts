import type { SealingService } from '@ecf/contracts';
import { z } from 'zod';
import { ConfigError, describeSetting, readConfig, setting } from './config.js';
import {
  createPurposeKeys,
  deriveKey,
  type PurposeKey,
  SEAL_PURPOSES,
  type SealingKeys,
  type SealPurpose,
} from './seal.js';

/** The purposes that each service seals and opens values for. It holds no keys of other purposes. */
export const SEALING_PURPOSES: Readonly<Record<SealingService, readonly SealPurpose[]>> = {
  gateway: ['taxpayer certificate'],
  emission: ['taxpayer certificate', 'request certificate', 'shared cache'],
  reception: ['taxpayer certificate', 'token key', 'shared cache', 'reception seed'],
  approvals: ['taxpayer certificate', 'request certificate', 'shared cache'],
  query: ['webhook secret'],
};

/** Settings of a service that seals values: one of the two. */
export const sealingSettings = {
  MASTER_KEY: setting.optionalBase64Keys({
    description:
      'Master key: every sealing key of the deployment is derived from it. For a deployment in one process; a service that runs as a separate program gets SEALING_KEYS instead. Of several keys, the first seals and any of them opens',
    allowed: '32 bytes in base64, or several such keys separated by commas',
    bytes: 32,
    unless: 'SEALING_KEYS',
  }),
  SEALING_KEYS: describeSetting(
    z
      .string()
      .transform((text, context) => {
        const keys = text.split(',').map(readPurposeKey);
        if (keys.every((key) => key !== null)) return keys;
        context.addIssue({ code: 'custom' });
        return z.NEVER;
      })
      .optional(),
    {
      description:
        'The keys for what this service seals: certificates, token keys, secrets of webhooks, tokens in Redis. Made from MASTER_KEY by ecf keys sealing. MASTER_KEY counts where both are set',
      allowed: 'purpose:id:key, separated by commas; the id has 8 hexadecimal digits, the key 32 bytes in base64',
      secret: true,
    },
  ),
};

const schema = z.object(sealingSettings);

/**
 * The keys of a service for its purposes, and for no others.
 * @throws ConfigError if SEALING_KEYS lack a purpose, or come from other master keys for one purpose than for another
 */
export function createSealingKeys(
  service: SealingService,
  { MASTER_KEY, SEALING_KEYS }: z.infer<typeof schema>,
): SealingKeys {
  const purposes = SEALING_PURPOSES[service];
  if (MASTER_KEY !== undefined) return createPurposeKeys(deriveAll(purposes, MASTER_KEY), 'MASTER_KEY');
  const keys = (SEALING_KEYS ?? []).filter(({ purpose }) => purposes.includes(purpose));
  const idsOf = (purpose: SealPurpose) => keys.filter((key) => key.purpose === purpose).map(({ id }) => id);
  const missing = purposes.filter((purpose) => idsOf(purpose).length === 0);
  const ids = new Set(purposes.map((purpose) => idsOf(purpose).join()));
  const fault =
    missing.length > 0
      ? `lacks a key for ${missing.map(wordOf).join(', ')}`
      : ids.size > 1
        ? 'must hold keys of the same master keys for each purpose, in the same order'
        : null;
  if (fault !== null)
    throw new ConfigError([{ variable: 'SEALING_KEYS', message: `${fault}; make it anew with ecf keys sealing` }]);
  return createPurposeKeys(keys, 'SEALING_KEYS');
}

/** The keys of a service from environment variables. Throws ConfigError. */
export function readSealingKeys(service: SealingService, env: Record<string, string | undefined>): SealingKeys {
  return createSealingKeys(service, readConfig(schema, env));
}

/** The settings SEALING_KEYS of all services that seal. `masterKeys` have 32 bytes each, the newest first. */
export function makeSealingKeys(masterKeys: readonly Uint8Array[]): Record<SealingService, string> {
  const settings = Object.entries(SEALING_PURPOSES).map(([service, purposes]) => [
    service,
    deriveAll(purposes, masterKeys)
      .map(({ purpose, id, key }) => `${wordOf(purpose)}:${id}:${Buffer.from(key).toString('base64')}`)
      .join(','),
  ]);
  return Object.fromEntries(settings);
}

/** The master keys of an environment, the newest first; null if MASTER_KEY is unset. Throws ConfigError. */
export function readMasterKeys(env: Record<string, string | undefined>): readonly Uint8Array[] | null {
  if (!env.MASTER_KEY) return null;
  return readConfig(schema, { MASTER_KEY: env.MASTER_KEY }).MASTER_KEY ?? null;
}

function deriveAll(purposes: readonly SealPurpose[], masterKeys: readonly Uint8Array[]): PurposeKey[] {
  return purposes.flatMap((purpose) => masterKeys.map((masterKey) => deriveKey(masterKey, purpose)));
}

/** A purpose as it is written in the setting. */
function wordOf(purpose: SealPurpose): string {
  return purpose.replaceAll(' ', '-');
}

function readPurposeKey(text: string): PurposeKey | null {
  const [word, id = '', base64 = '', ...rest] = text.trim().split(':');
  const purpose = SEAL_PURPOSES.find((one) => wordOf(one) === word);
  const key = Buffer.from(base64, 'base64');
  if (purpose === undefined || !/^[0-9a-f]{8}$/.test(id) || key.length !== 32 || rest.length > 0) return null;
  return { purpose, id, key };
}
