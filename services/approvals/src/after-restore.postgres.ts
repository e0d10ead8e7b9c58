import type { Transaction } from '@ecf/postgres';
import { publishDeliveriesSince } from './buyers/deliveries.postgres.js';
import { publishGivenSince } from './given/approvals.postgres.js';
import { publishReceivedSince } from './received/received-approvals.postgres.js';

/** After a restore of this service or others: publishes the deliveries and decisions that changed since again. */
export async function publishChangedSince(tx: Transaction, since: Date, now: Date): Promise<void> {
  await publishDeliveriesSince(tx, since, now);
  await publishGivenSince(tx, since, now);
  await publishReceivedSince(tx, since, now);
}
