import { archiveSettings } from '@ecf/archive';
import { busSettings } from '@ecf/bus';
import { isRnc } from '@ecf/domain';
import { serviceKeySettings } from '@ecf/http/identity';
import {
  authoritySettings,
  bodySettings,
  ConfigProblems,
  databaseSettings,
  describeSetting,
  gatewayAddressSettings,
  sealingSettings,
  serverSettings,
  setting,
} from '@ecf/kit';
import { cacheSettings } from '@ecf/kit/cache';
import { ingressLimitSettings, readTrustSettings, senderSettings, type TrustSettings } from '@ecf/public-ingress';
import { z } from 'zod';

const GIBIBYTE = 1_024 ** 3;

/** Every setting of the reception service. */
export const receptionSettings = z.object({
  ...serverSettings(8083),
  ...bodySettings,
  ...busSettings,
  ...databaseSettings(16),
  ...sealingSettings,
  ...serviceKeySettings,
  ...gatewayAddressSettings,
  ...authoritySettings,
  ...cacheSettings,
  ...archiveSettings,
  RECEPTION_SIGNER_RNC: describeSetting(z.string().refine(isRnc).optional() as z.ZodType<string | undefined>, {
    description: 'Taxpayer that signs acknowledgements for buyers not served here; unset = such documents get 404',
    allowed: 'an RNC of 9 or 11 digits',
  }),
  ...senderSettings,
  APPROVAL_DEADLINE_DAYS: setting.optionalInteger({
    description: 'Days after receipt within which an e-CF must be approved or rejected; unset = no deadline',
    min: 1,
    max: 3_650,
  }),
  PROVIDER_TOKEN_SECONDS: setting.integer({
    description: 'Seconds that the token of a sender is valid',
    min: 60,
    max: 3_600,
    default: 1_800,
  }),
  PROVIDER_KEY_ROTATION_HOURS: setting.integer({
    description: 'Hours after which a new key signs the tokens of senders',
    min: 1,
    max: 8_760,
    default: 24,
  }),
  ...ingressLimitSettings,
  MAX_COMPETING_BYTES: setting.integer({
    description:
      'Bytes of documents competing for one number that are kept, for good; a sender may use a third of them',
    min: 0,
    max: GIBIBYTE,
    default: GIBIBYTE / 32,
  }),
});

/** The settings, with the files of issuers and revoked certificates read. */
export type ReceptionConfig = z.infer<typeof receptionSettings> & { trust: TrustSettings };

/** Reads the service's configuration from environment variables; throws ConfigError naming every variable at fault. */
export function readReceptionConfig(env: Record<string, string | undefined>): ReceptionConfig {
  const problems = new ConfigProblems();
  const settings = problems.readOn(env, receptionSettings);
  return {
    ...settings,
    ...problems.readAll({ trust: () => readTrustSettings(settings) }),
  };
}
