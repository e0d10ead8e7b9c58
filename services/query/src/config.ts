import { archiveSettings } from '@ecf/archive';
import { busSettings } from '@ecf/bus';
import { serviceKeySettings } from '@ecf/http/identity';
import {
  authoritySettings,
  databaseSettings,
  gatewayAddressSettings,
  readConfig,
  sealingSettings,
  serverSettings,
  setting,
} from '@ecf/kit';
import { z } from 'zod';

/** Every setting of the query service. */
export const querySettings = z.object({
  ...serverSettings(8085),
  ...busSettings,
  // A rebuild creates a schema in the database.
  ...databaseSettings(12),
  ...sealingSettings,
  ...serviceKeySettings,
  ...gatewayAddressSettings,
  ...authoritySettings,
  ...archiveSettings,
  EMISSION_URL: setting.optionalUrl({
    description:
      'Address of emission, queried about the present states of documents, the authority’s tokens and raw answers',
  }),
  RECEPTION_URL: setting.optionalUrl({
    description:
      'Address of reception, queried about received documents whose event has not arrived yet, and about all of them for a rebuild',
  }),
  APPROVALS_URL: setting.optionalUrl({
    description:
      'Address of approvals, queried about all deliveries and buyers’ decisions for a rebuild; unset = not part of the deployment',
  }),
  OWNER_TIMEOUT_MS: setting.integer({
    description: 'Milliseconds to wait for emission or reception before the query is answered without them',
    min: 50,
    max: 60_000,
    default: 2_000,
  }),
  MAX_LONG_POLLS_PER_ACCOUNT: setting.integer({
    description:
      'Calls of GET /events with wait that one instance keeps open for one account; one API key may have a fifth of them. More get 429',
    min: 5,
    max: 100_000,
    default: 100,
  }),
  ALLOW_PRIVATE_ADDRESSES: setting.flag({
    description: 'Whether webhooks may have private or loopback addresses, and no TLS',
    default: false,
  }),
  STATUS_KEY: setting.optionalText({
    description: "Key of the authority's status service; unset = /monitoring/status answers 503",
    secret: true,
  }),
});

export type QueryConfig = z.infer<typeof querySettings>;

/** Reads the service's configuration from environment variables; throws ConfigError naming every variable at fault. */
export function readQueryConfig(env: Record<string, string | undefined>): QueryConfig {
  return readConfig(querySettings, env);
}
