import type { OutcomeOperations } from '@ecf/contracts';
import type { Database } from '@ecf/service-kit/postgres';
import { deliveryChanged } from './buyers/deliveries.postgres.js';
import { decisionReceived, pageOfDecisions } from './received/received-approvals.postgres.js';
import type { OutgoingRow } from './sending/outgoing.postgres.js';

const DELIVERIES = {
  name: 'deliveries_page',
  text: "SELECT * FROM outgoing_documents WHERE kind = 'delivery' AND id > $1 ORDER BY id LIMIT $2",
};

/** The outcomes of issued documents, for services that rebuild their read models. */
export function createOutcomes(database: Database): OutcomeOperations {
  return {
    async pageOfDeliveries({ after, limit }) {
      const { rows } = await database.query<OutgoingRow>(DELIVERIES, [after, limit]);
      return { deliveries: rows.map(deliveryChanged), next: nextOf(rows, limit) };
    },
    async pageOfDecisions({ after, limit }) {
      const rows = await pageOfDecisions(database, after, limit);
      return { decisions: rows.map(decisionReceived), next: nextOf(rows, limit) };
    },
  };
}

function nextOf(rows: readonly { id: number }[], limit: number): number | null {
  return rows.length < limit ? null : (rows.at(-1)?.id ?? null);
}
