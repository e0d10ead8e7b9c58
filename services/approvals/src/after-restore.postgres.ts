import { changedSince, type Restore, type Transaction } from '@ecf/postgres';
import { publishDeliveriesSince } from './buyers/deliveries.postgres.js';
import { openSendsMayHaveArrived, publishGivenSince } from './given/approvals.postgres.js';
import { publishReceivedSince } from './received/received-approvals.postgres.js';

/** Makes this service and the others agree after a restore: publishes the deliveries and decisions that changed since again. */
export async function settleRestore(tx: Transaction, restore: Restore, now: Date): Promise<void> {
  if (!restore.ofOthers) await openSendsMayHaveArrived(tx);
  const since = changedSince(restore);
  await publishDeliveriesSince(tx, since, now);
  await publishGivenSince(tx, since, now);
  await publishReceivedSince(tx, since, now);
}
