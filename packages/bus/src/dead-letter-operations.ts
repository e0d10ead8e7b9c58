import type { StateOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/kit';
import type { Database } from '@ecf/postgres';
import type { BusEvent } from './bus.js';

interface Row {
  readonly group: string;
  readonly event: BusEvent;
  readonly reason: string;
  readonly attempts: number;
  readonly failed_at: Date;
  readonly replay: boolean;
}

const COLUMNS = 'consumer_group AS "group", event, reason, attempts, failed_at, replay';
const LIST = `SELECT ${COLUMNS} FROM dead_letters ORDER BY failed_at, event_id LIMIT $1`;
const ONE = 'consumer_group = $1 AND event_id = $2';
const REPLAY = `UPDATE dead_letters SET replay = true WHERE ${ONE} RETURNING ${COLUMNS}`;
const DISMISS = `DELETE FROM dead_letters WHERE ${ONE} RETURNING ${COLUMNS}`;

/** The dead letters of a service for the administration. */
export function deadLetterOperations(
  database: Pick<Database, 'query'>,
): Pick<StateOperations, 'listDeadLetters' | 'replayDeadLetter' | 'dismissDeadLetter'> {
  async function one(statement: string, group: string, eventId: string) {
    const [row] = (await database.query<Row>(statement, [group, eventId])).rows;
    if (row === undefined)
      throw new ApiError(404, 'not_found', `The consumer ${group} has no dead letter of the event ${eventId}.`);
    return shown(row);
  }
  return {
    listDeadLetters: async ({ limit }) => ({
      dead_letters: (await database.query<Row>(LIST, [limit])).rows.map(shown),
    }),
    replayDeadLetter: ({ group, event_id }) => one(REPLAY, group, event_id),
    dismissDeadLetter: ({ group, event_id }) => one(DISMISS, group, event_id),
  };
}

function shown({ group, event, reason, attempts, failed_at, replay }: Row) {
  const { id, topic, type, key } = event;
  return {
    event_id: id,
    group,
    topic,
    type,
    key,
    reason,
    attempts,
    failed_at: toIsoDominican(failed_at),
    replaying: replay,
  };
}
