import type { AuthorityClient } from '@ecf/authority-client';
import type { ServiceDependencies } from '@ecf/service';
import type { EmissionStore, Observer } from '../attempt/ports.js';
import type { Recorder } from '../attempt/recorder.js';
import type { EmissionConfig } from '../config.js';
import type { Authority } from '../sending/ports.js';
import { createPostgresContingencyStore } from './contingency.postgres.js';
import { createMaintenanceWatch } from './maintenance.js';
import { createRecovery } from './recovery.js';
import { createTokenBeforeSigning } from './token-or-wait.js';

/** Documents that are signed while the authority is unreachable, and wait for it. */
export function createContingency(
  config: EmissionConfig,
  { database, clock, logger }: ServiceDependencies,
  {
    client,
    authority,
    emissions,
    recorder,
    observer,
  }: {
    /** Reads the announcements of maintenance. */
    readonly client: AuthorityClient;
    readonly authority: Authority;
    readonly emissions: EmissionStore;
    readonly recorder: Recorder;
    readonly observer: Observer;
  },
) {
  const store = createPostgresContingencyStore(database);
  const recovery = createRecovery(
    { authority, contingency: store, emissions, recorder, observer, clock },
    { idleMs: config.BACKGROUND_IDLE_MS, recoveryRate: config.RECOVERY_RATE },
  );
  const { STATUS_KEY: statusKey, MAINTENANCE_EVERY_MS: everyMs } = config;
  const failed = (error: unknown) => logger.warn({ err: error }, 'announcements of maintenance could not be read');
  const watches = statusKey ? [createMaintenanceWatch(client, { statusKey, everyMs, clock, failed })] : [];
  return {
    store,
    tokenBeforeSigning: createTokenBeforeSigning(authority, store, clock, config.RECOVERY_RATE),
    backgrounds: [recovery, ...watches],
  };
}
