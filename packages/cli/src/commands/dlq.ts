import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BusEvent } from '@ecf/bus';
import { SERVICE_NAMES } from '@ecf/contracts';
import { runningPostgresUrl } from '@ecf/deployment/postgres';
import { openDatabase, serviceDatabaseUrl, sqlState } from '@ecf/postgres';
import type { Console, ExitCode } from '../command.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { printable, RowWriter, wantsJson } from '../output.js';

export const options: Options = {
  topic: 'value',
  group: 'value',
  id: 'value',
  all: 'switch',
  'data-dir': 'value',
  wait: 'value',
  event: 'switch',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf dlq list [options]
ecf dlq replay (--all | --topic, --group, --id) [options]
ecf dlq dismiss (--all | --topic, --group, --id) [options]

Dead letters are events that a service could not handle. The service keeps them
with the reason, in its own database, until the cause is removed and they are
replayed.

Actions
  list     lists them, oldest first
  replay   gives them to the service that failed, and to no other; one that
           fails again is listed again
  dismiss  deletes them without handling

Options
  --topic T     only this topic, e.g. invoices.v1
  --group G     only this consumer, e.g. query
  --id ID       this dead letter, or the dead letters of this event
  --all         all of them
  --data-dir D  data folder of a running sandbox; default DATA_DIR, else .data
  --wait S      replay: seconds to wait until the service has handled the
                events; default 10
  --event       list: with the event itself (JSON only)
  --json        one JSON object per line; --text is for people, the default on a
                terminal

With DATABASE_URL, the address of the database server, the command reads the
databases of the services there (ecf_gateway, ecf_emission and so on), otherwise
those of the data folder.

Exit codes
  0  done
  1  an event of a replay was not handled
  2  wrong usage or a database cannot be reached

Examples
  ecf dlq list --topic invoices.v1
  ecf dlq replay --group query --topic invoices.v1
`;

const VERBS = ['list', 'replay', 'dismiss'] as const;

interface DeadLetter {
  readonly id: string;
  readonly group: string;
  readonly event: BusEvent;
  readonly reason: string;
  readonly attempts: number;
  readonly failed_at: Date;
}

const COLUMNS = `event_id || '.' || consumer_group AS id, consumer_group AS "group", event, reason, attempts, failed_at`;
const CHOSEN = `($1::text IS NULL OR topic = $1) AND ($2::text IS NULL OR consumer_group = $2)
  AND ($3::text IS NULL OR $3 IN (event_id, event_id || '.' || consumer_group))`;
const STATEMENTS = {
  list: `SELECT ${COLUMNS} FROM dead_letters WHERE ${CHOSEN}`,
  replay: `UPDATE dead_letters SET replay = true WHERE ${CHOSEN} RETURNING ${COLUMNS}`,
  dismiss: `DELETE FROM dead_letters WHERE ${CHOSEN} RETURNING ${COLUMNS}`,
};

export async function execute(values: OptionValues, [given, ...rest]: string[], console: Console): Promise<ExitCode> {
  const verb = VERBS.find((each) => each === given);
  if (verb === undefined || rest.length > 0) throw new UsageError(`the command is one of ${VERBS.join(', ')}.`);
  const json = wantsJson(values, console.stdout);
  const { topic = null, group = null, id = null } = values;
  if (verb !== 'list' && values.all !== true && topic === null && group === null && id === null)
    throw new UsageError(`${verb} needs --topic, --group or --id, or --all.`);
  const wait = seconds(values.wait);
  const server = serverOf(values['data-dir'] as string | undefined, process.env);
  const writer = new RowWriter(console.stdout);
  try {
    const found = await inEachDatabase<DeadLetter>(server, STATEMENTS[verb], [topic, group, id]);
    const deadLetters = found.sort((a, b) => a.failed_at.getTime() - b.failed_at.getTime());
    const results = verb === 'list' ? null : await outcomes(server, verb === 'replay' ? deadLetters : [], wait);
    let code: ExitCode = 0;
    for (const deadLetter of deadLetters) {
      if (results === null) {
        await writer.write(json ? line(row(deadLetter, values.event === true)) : readable(deadLetter));
        continue;
      }
      const { outcome, reason } = results.get(deadLetter.id) ?? { outcome: DONE[verb], reason: null };
      if (reason !== null) code = 1;
      const why = reason === null ? '' : `  ${printable(reason)}`;
      const text = `${outcome.padEnd(9)}  ${name(deadLetter)}${why}\n`;
      await writer.write(json ? line({ id: deadLetter.id, outcome, reason }) : text);
    }
    if (!json) await writer.write(summary(deadLetters.length, SUMMARY[verb]));
    await writer.flush();
    return code;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`the dead letters cannot be reached: ${messageOf(error)}`, { cause: error });
  }
}

const DONE = { list: 'found', replay: 'handled', dismiss: 'dismissed' };
const SUMMARY = { list: 'found', replay: 'replayed', dismiss: 'dismissed' };

/** The address of the database server: DATABASE_URL, else the embedded server of a data folder. */
function serverOf(folder: string | undefined, env: NodeJS.ProcessEnv): string {
  if (folder === undefined && env.DATABASE_URL) return env.DATABASE_URL;
  const data = folder ?? (env.DATA_DIR || '.data');
  const server = runningPostgresUrl(path.join(data, 'postgres'), 'ecf');
  if (server !== null) return server;
  throw new UsageError(
    `no deployment runs in the data folder ${data}; start it, name another with --data-dir, or set DATABASE_URL.`,
  );
}

/** The rows of a statement in the databases of all services. A deployment may lack services. */
async function inEachDatabase<R>(server: string, sql: string, params: readonly unknown[]): Promise<R[]> {
  const found = await Promise.all(
    SERVICE_NAMES.map(async (service) => {
      const database = openDatabase(serviceDatabaseUrl(server, service), { max: 1, applicationName: 'ecf dlq' });
      try {
        return (await database.query<R>(sql, params)).rows;
      } catch (error) {
        // The database does not exist.
        if (sqlState(error) === '3D000') return null;
        throw error;
      } finally {
        await database.close();
      }
    }),
  );
  const present = found.filter((rows) => rows !== null);
  if (present.length === 0) throw new Error('the server has no database of a service; check the name in DATABASE_URL');
  return present.flat();
}

interface Outcome {
  readonly outcome: 'failed' | 'waiting';
  readonly reason: string;
}

const POLL_MS = 200;
const STILL = `SELECT event_id || '.' || consumer_group AS id, replay, reason FROM dead_letters
  WHERE event_id || '.' || consumer_group = ANY ($1)`;

/** Waits until the services have handled the dead letters. Resolves with the ones that are still there. */
async function outcomes(
  server: string,
  deadLetters: readonly DeadLetter[],
  waitSeconds: number,
): Promise<Map<string, Outcome>> {
  const end = performance.now() + waitSeconds * 1_000;
  const ids = deadLetters.map(({ id }) => id);
  for (;;) {
    const left = await inEachDatabase<{ id: string; replay: boolean; reason: string }>(server, STILL, [ids]);
    if (performance.now() >= end || left.every(({ replay }) => !replay)) {
      const waiting = 'the service has not handled it yet; it does so as soon as it can';
      return new Map(
        left.map(({ id, replay, reason }) => [
          id,
          replay ? { outcome: 'waiting', reason: waiting } : { outcome: 'failed', reason },
        ]),
      );
    }
    await delay(POLL_MS);
  }
}

function seconds(given: string | boolean | undefined): number {
  if (given === undefined) return 10;
  const wait = Number(given);
  if (!(wait >= 0 && wait <= 3_600)) throw new UsageError('--wait is a number of seconds from 0 to 3600.');
  return wait;
}

function row({ id, group, reason, attempts, failed_at, event }: DeadLetter, whole: boolean) {
  const { topic, key, type, time } = event;
  const about = {
    id,
    topic,
    group,
    key,
    type,
    event_id: event.id,
    event_time: time,
    time: failed_at,
    attempts,
    reason,
  };
  return whole ? { ...about, event } : about;
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function readable(deadLetter: DeadLetter): string {
  const { failed_at, attempts, reason, event } = deadLetter;
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  return `${name(deadLetter)}\n    ${printable(`${event.type} of ${event.key}`)}, tried ${times}, given up ${failed_at.toISOString()}\n    ${printable(reason)}\n`;
}

function name({ id, group, event }: DeadLetter): string {
  return printable(`${event.topic}  ${group}  ${id}`);
}

function summary(count: number, done: string): string {
  return `${count} dead letter${count === 1 ? '' : 's'} ${done}\n`;
}

function messageOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error));
}
