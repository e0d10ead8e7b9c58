import { randomUUID } from 'node:crypto';
import type { BusEvent } from '../src/bus.js';
import { makeEvent } from '../src/events.js';

/** A valid event of `taxpayers.v1`; `revision` distinguishes events of one key. */
export function taxpayerEvent(rnc: string, revision = 1): BusEvent {
  const data = {
    rnc,
    account_id: 'a1',
    account_active: true,
    revision,
    previous_revision: revision - 1,
    name: 'Ferretería La Económica',
    active: true,
    certificate: null,
    fingerprint: null,
    ranges: [],
    created_at: '2026-01-02T03:04:05-04:00',
  };
  const draft = { topic: 'taxpayers.v1', type: 'taxpayer.changed', source: 'gateway', subject: rnc, key: rnc, data };
  return makeEvent(draft, { id: randomUUID(), time: new Date() });
}

/** The revision of an event of {@link taxpayerEvent}. */
export function revisionOf(event: BusEvent): number {
  return (event.data as { revision: number }).revision;
}

/** `count` different RNCs. */
export function rncs(count: number): string[] {
  return Array.from({ length: count }, (_, i) => String(131_000_000 + i));
}
