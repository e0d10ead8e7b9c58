import type { OutcomeOperations } from '@ecf/contracts';
import type { Database } from '@ecf/service-kit/postgres';
import { type DeliveryRow, deliveryChanged } from './delivery-rows.js';
import { decisionReceived, fromRow, type ReceivedApprovalRow } from './received-approvals.postgres.js';

const page = (table: 'deliveries' | 'received_approvals') => ({
  name: `${table}_page`,
  text: `SELECT * FROM ${table} WHERE id > $1 ORDER BY id LIMIT $2`,
});
const DELIVERIES = page('deliveries');
const DECISIONS = page('received_approvals');

/** The outcomes of issued documents, for services that rebuild their read models. */
export function createOutcomes(database: Database): OutcomeOperations {
  return {
    async pageOfDeliveries({ after, limit }) {
      const { rows } = await database.query<DeliveryRow>(DELIVERIES, [after, limit]);
      return { deliveries: rows.map(deliveryChanged), next: nextOf(rows, limit) };
    },
    async pageOfDecisions({ after, limit }) {
      const { rows } = await database.query<ReceivedApprovalRow & { id: number }>(DECISIONS, [after, limit]);
      return { decisions: rows.map((row) => decisionReceived(fromRow(row))), next: nextOf(rows, limit) };
    },
  };
}

function nextOf(rows: readonly { id: number }[], limit: number): number | null {
  return rows.length < limit ? null : (rows.at(-1)?.id ?? null);
}
