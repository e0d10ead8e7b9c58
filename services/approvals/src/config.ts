import { archiveSettings } from '@ecf/archive';
import { busSettings } from '@ecf/bus';
import { serviceKeySettings } from '@ecf/http/identity';
import {
  authoritySettings,
  bodySettings,
  ConfigProblems,
  databaseSettings,
  gatewayAddressSettings,
  sealingSettings,
  serverSettings,
  setting,
} from '@ecf/kit';
import { cacheSettings } from '@ecf/kit/cache';
import { ingressLimitSettings, readTrustSettings, senderSettings, type TrustSettings } from '@ecf/public-ingress';
import { z } from 'zod';

/** Every setting of the approvals service. */
export const approvalsSettings = z.object({
  ...serverSettings(8084),
  ...bodySettings,
  ...busSettings,
  ...databaseSettings(16),
  ...sealingSettings,
  ...serviceKeySettings,
  ...gatewayAddressSettings,
  ...authoritySettings,
  ...archiveSettings,
  ...cacheSettings,
  EMISSION_URL: setting.optionalUrl({
    description: 'Address of emission, queried about issued documents',
  }),
  RECEPTION_URL: setting.optionalUrl({
    description: "Address of reception, queried about received documents and senders' tokens",
  }),
  ...senderSettings,
  ...ingressLimitSettings,
  ALLOW_PRIVATE_ADDRESSES: setting.flag({
    description: 'Whether receivers may have private or loopback addresses, and no TLS',
    default: false,
  }),
  RECEIVER_LOGINS: setting.flag({
    description:
      'Whether to log in at receivers that offer it. A login signs a seed that the receiver chooses. Without logins, a receiver that demands a token gets no document',
    default: true,
  }),
  RECEIVER_TIMEOUT_MS: setting.integer({
    description: "Milliseconds to wait for another receiver's answer to one call",
    min: 100,
    max: 120_000,
    default: 20_000,
  }),
  DIRECTORY_ENTRY_SECONDS: setting.integer({
    description: "How long an entry of the authority's directory is used; an RNC without one is looked up immediately",
    min: 0,
    max: 86_400,
    default: 600,
  }),
  APPROVAL_FIRST_RETRY_MS: setting.integer({
    description: 'Pause after the first failed send of an approval; it doubles to an hour',
    min: 10,
    max: 60_000,
    default: 5_000,
  }),
  APPROVAL_ISSUER_HOURS: setting.integer({
    description: 'Hours in which an approval is sent to an issuer that cannot be reached, or has no receiver yet',
    min: 1,
    max: 8_760,
    default: 72,
  }),
  APPROVAL_ISSUER_WAIT_MS: setting.integer({
    description: "Milliseconds that POST /acecf waits for the issuer's answer, after the authority's",
    min: 0,
    max: 60_000,
    default: 3_000,
  }),
  APPROVAL_CLAIM_MS: setting.integer({
    description: 'Milliseconds of the lease of a send; if its instance ended, another one continues after it',
    min: 1_000,
    max: 3_600_000,
    default: 15_000,
  }),
  APPROVAL_CONCURRENCY: setting.integer({
    description: 'Approvals of one instance in flight to the authority in the background',
    min: 1,
    max: 1_000,
    default: 16,
  }),
  DELIVER_TYPE_45: setting.flag({
    description: 'Whether e-CF of type 45 (government) are delivered to their buyers too',
    default: false,
  }),
  DELIVERY_FIRST_RETRY_MS: setting.integer({
    description: 'Pause after the first failed delivery to a buyer; it doubles to an hour',
    min: 10,
    max: 60_000,
    default: 5_000,
  }),
  DELIVERY_HOURS: setting.integer({
    description: 'Hours in which a delivery is tried; then its status is failed',
    min: 1,
    max: 8_760,
    default: 72,
  }),
  DELIVERY_CONCURRENCY: setting.integer({
    description:
      'Documents that one instance sends at the same time; a send that takes longer than half a second no longer counts',
    min: 1,
    max: 1_000,
    default: 64,
  }),
  DELIVERY_PER_RECEIVER: setting.integer({
    description: 'Deliveries of one instance in flight to a receiver that answered before; any other gets one',
    min: 1,
    max: 100,
    default: 8,
  }),
  SENDING_IDLE_MS: setting.integer({
    description:
      'Longest pause in milliseconds between two queries for documents to send; an instance does not wait for it with due times that it stored itself',
    min: 10,
    max: 60_000,
    default: 30_000,
  }),
});

/** The settings, with the files of issuers and revoked certificates read. */
export type ApprovalsConfig = z.infer<typeof approvalsSettings> & { trust: TrustSettings };

/** Reads the service's configuration from environment variables; throws ConfigError naming every variable at fault. */
export function readApprovalsConfig(env: Record<string, string | undefined>): ApprovalsConfig {
  const problems = new ConfigProblems();
  const settings = problems.readOn(env, approvalsSettings);
  return {
    ...settings,
    ...problems.readAll({ trust: () => readTrustSettings(settings) }),
  };
}
