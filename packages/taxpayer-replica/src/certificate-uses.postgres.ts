import { appendToOutbox } from '@ecf/bus';
import { type ActSource, actEvents } from '@ecf/bus/events';
import { toCalendarDate, toIsoDominican } from '@ecf/domain';
import type { Database } from '@ecf/postgres';
import { LRUCache } from 'lru-cache';
import { certificateUseAct, type RecordCertificateUse } from './certificate-uses.js';

/** Uses that a process remembers. A forgotten one is published again, and the gateway appends it once. */
const REMEMBERED = 10_000;

/** Reports the first use in this process and day to the gateway, by the outbox of the service. */
export function createCertificateUses(options: {
  readonly database: Database;
  readonly acts: ActSource;
  readonly clock: () => Date;
}): RecordCertificateUse {
  const { database, acts, clock } = options;
  const recorded = new LRUCache<string, Promise<void>>({ max: REMEMBERED });

  return function record(use) {
    const now = clock();
    const day = toCalendarDate(now);
    const name = `${day} ${use.use} ${use.rnc} ${use.account} ${use.certificate.fingerprint} ${use.host ?? ''}`;
    const known = recorded.get(name);
    if (known !== undefined) return known;
    const { id, act } = certificateUseAct(acts.source, use, { at: toIsoDominican(now), day });
    const recording = database.transaction((tx) => appendToOutbox(tx, actEvents(acts, act, id)));
    recorded.set(name, recording);
    recording.catch(() => recorded.delete(name));
    return recording;
  };
}
