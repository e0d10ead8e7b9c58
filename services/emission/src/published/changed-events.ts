import { randomUUID } from 'node:crypto';
import { type ActSource, makeEvent } from '@ecf/bus/events';
import { type RunStarted, TOPICS } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { type Attempt, documentKey } from '../attempt/attempt.js';
import type { FinishedBatch } from '../batches/batch.js';
import { batchDone } from '../batches/batch.js';
import type { Cancellation } from '../cancellation/cancellation.js';
import { cancellationChanged } from '../cancellation/cancellation-body.js';
import type { StartedRun } from '../runs/start-run.js';
import { invoiceChanged } from './invoice-event.js';

/** Acts in this service, for the audit log. */
export const ACTS: ActSource = { topic: TOPICS.audit.name, source: 'emission' };

/** The event that publishes the present state of an attempt. */
export function invoiceEvent(attempt: Attempt, now: Date) {
  return makeEvent(
    {
      topic: TOPICS.invoices.name,
      type: 'invoice.changed',
      source: 'emission',
      subject: `${attempt.issuerRnc}:${attempt.encf}`,
      key: documentKey(attempt),
      data: invoiceChanged(attempt),
    },
    { id: randomUUID(), time: now },
  );
}

/** The event that publishes the present state of a cancellation. */
export function cancellationEvent(cancellation: Cancellation, now: Date) {
  const data = cancellationChanged(cancellation);
  return makeEvent(
    {
      topic: TOPICS.cancellations.name,
      type: 'cancellation.changed',
      source: 'emission',
      subject: `${data.issuer_rnc}:${data.id}`,
      key: `${data.env}:${data.issuer_rnc}:${data.id}`,
      data,
    },
    { id: randomUUID(), time: now },
  );
}

/** The event that publishes the end of a batch. */
export function batchEvent(batch: FinishedBatch, now: Date) {
  return makeEvent(
    {
      topic: TOPICS.batches.name,
      type: 'batch.done',
      source: 'emission',
      subject: String(batch.id),
      key: String(batch.id),
      data: batchDone(batch),
    },
    { id: randomUUID(), time: now },
  );
}

/** The event that publishes the start of a certification run. */
export function runEvent({ env, issuerRnc, accountId, run, startedAt }: StartedRun, now: Date) {
  const key = issuerRnc;
  const data: RunStarted = {
    env,
    issuer_rnc: issuerRnc,
    account_id: accountId,
    run,
    started_at: toIsoDominican(startedAt),
  };
  const draft = { topic: TOPICS.runs.name, type: 'run.started', source: 'emission', subject: key, key, data } as const;
  return makeEvent(draft, { id: randomUUID(), time: now });
}
