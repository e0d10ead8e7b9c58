import type { SealingKeys } from '@ecf/kit';
import { trustCheck } from '@ecf/public-ingress';
import type { ServiceDependencies } from '@ecf/service';
import type { ReceptionConfig } from '../config.js';
import type { SeedValidation } from './ports.js';
import { MAX_WAITING_TOKENS } from './provider-keys.js';
import { createProviderTokens } from './provider-tokens.js';
import { createSeeds } from './seeds.js';
import { createSpentSeeds, createTokenKeys, sealedTokenKeys } from './tokens.postgres.js';

const HOUR = 3_600_000;

/** The authentication of senders: seeds, and the tokens that they buy. */
export function createTokens(
  config: ReceptionConfig,
  { clock, database, watchQueue }: ServiceDependencies,
  sealingKeys: SealingKeys,
  validation: SeedValidation,
) {
  const spent = createSpentSeeds(database);
  const seedKeys = sealingKeys.keysFor('reception seed');
  const tokens = createProviderTokens(
    { keys: createTokenKeys(database, sealingKeys), clock },
    { lifeSeconds: config.PROVIDER_TOKEN_SECONDS, rotationMs: config.PROVIDER_KEY_ROTATION_HOURS * HOUR },
  );
  watchQueue({ queue: 'tokens', limit: MAX_WAITING_TOKENS, depth: tokens.waiting });
  return {
    seeds: createSeeds({ spent, validation, clock }, seedKeys, trustCheck(config.trust)),
    tokens,
    cleanSeeds: spent.clean,
    sealed: sealedTokenKeys(database, sealingKeys),
  };
}
