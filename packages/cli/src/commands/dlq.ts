import type { DeadLetter } from '@ecf/service-kit/dead-letters';
import type { Console, ExitCode } from '../command.js';
import { replay } from '../dead-letters/replay.js';
import { type DeadLetterStore, openDeadLetterStore } from '../dead-letters/store.js';
import type { Options, OptionValues } from '../options.js';
import { wantsJson } from '../output/format.js';
import { printable } from '../output/readable.js';
import { RowWriter } from '../output/row-writer.js';
import { UsageError } from '../usage-error.js';

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

Dead-letter messages are events that a service could not handle. They are kept with the reason until somebody removes the
cause.

  list     lists them, oldest first
  replay   sends them to the service that failed, and to no other; one that fails again is listed again
  dismiss  deletes them without handling

  --topic T      only this topic, e.g. invoices.v1
  --group G      only this consumer, e.g. query
  --id ID        this message, or the messages of this event
  --all          all of them
  --data-dir D   data folder of a standalone deployment; default DATA_DIR, else .data
  --wait S       replay: seconds to wait until a standalone deployment takes the events; default 10
  --event        list: with the event itself (JSON only)
  --json         one JSON object a line; --text is for people, the default on a terminal

With KAFKA_BROKERS (and the other KAFKA_ settings of the services), the command reads the messages of the brokers, otherwise
those of the data folder. Exit code: 0 done, 1 an event of a replay was not handled, 2 wrong usage or the messages cannot be
reached.

  ecf dlq list --topic invoices.v1
  ecf dlq replay --group query --topic invoices.v1
`;

const VERBS = ['list', 'replay', 'dismiss'] as const;
type Verb = (typeof VERBS)[number];

export async function execute(values: OptionValues, [given, ...rest]: string[], console: Console): Promise<ExitCode> {
  const verb = VERBS.find((each) => each === given);
  if (verb === undefined || rest.length > 0) throw new UsageError(`the command is one of ${VERBS.join(', ')}.`);
  const json = wantsJson(values, console.stdout);
  if (
    verb !== 'list' &&
    values.all !== true &&
    values.topic === undefined &&
    values.group === undefined &&
    values.id === undefined
  )
    throw new UsageError(`${verb} needs --topic, --group or --id, or --all.`);
  const store = openDeadLetterStore(values['data-dir'] as string | undefined, process.env);
  try {
    const deadLetters = chosen(await store.deadLetters.list(values.topic as string | undefined), values);
    const writer = new RowWriter(console.stdout);
    const code = await ACTIONS[verb]({ deadLetters, store, values, json, writer });
    await writer.flush();
    return code;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`the dead-letter messages cannot be reached: ${messageOf(error)}`, { cause: error });
  } finally {
    await store.close();
  }
}

interface Work {
  readonly deadLetters: readonly DeadLetter[];
  readonly store: DeadLetterStore;
  readonly values: OptionValues;
  readonly json: boolean;
  readonly writer: RowWriter;
}

const ACTIONS: Readonly<Record<Verb, (work: Work) => Promise<ExitCode>>> = {
  async list({ deadLetters, store, values, json, writer }) {
    for (const deadLetter of deadLetters)
      await writer.write(json ? line(row(deadLetter, values.event === true)) : readable(deadLetter));
    if (!json) await writer.write(summary(deadLetters.length, 'dead-letter message', store.place));
    return 0;
  },
  async replay({ deadLetters, store, values, json, writer }) {
    let code: ExitCode = 0;
    for (const { deadLetter, outcome, reason } of await replay(deadLetters, store, seconds(values.wait))) {
      if (outcome === 'failed' || outcome === 'waiting') code = 1;
      const why = reason === null ? '' : `  ${printable(reason)}`;
      const text = `${outcome.padEnd(9)}  ${name(deadLetter)}${why}\n`;
      await writer.write(json ? line({ id: deadLetter.id, outcome, reason }) : text);
    }
    if (!json) await writer.write(summary(deadLetters.length, 'message', 'replayed'));
    return code;
  },
  async dismiss({ deadLetters, store, json, writer }) {
    for (const deadLetter of deadLetters) {
      await store.deadLetters.remove(deadLetter.id);
      await writer.write(json ? line({ id: deadLetter.id, outcome: 'dismissed' }) : `dismissed  ${name(deadLetter)}\n`);
    }
    if (!json) await writer.write(summary(deadLetters.length, 'message', 'dismissed'));
    return 0;
  },
};

function chosen(deadLetters: readonly DeadLetter[], { group, id }: OptionValues): DeadLetter[] {
  return deadLetters.filter(
    (deadLetter) =>
      (group === undefined || deadLetter.group === group) &&
      (id === undefined || deadLetter.id === id || deadLetter.event.id === id),
  );
}

function seconds(given: string | boolean | undefined): number {
  if (given === undefined) return 10;
  const wait = Number(given);
  if (!(wait >= 0 && wait <= 3_600)) throw new UsageError('--wait is a number of seconds from 0 to 3600.');
  return wait;
}

function row({ id, group, reason, attempts, time, event }: DeadLetter, whole: boolean) {
  const { topic, key, type, time: happened } = event;
  const about = { id, topic, group, key, type, event_id: event.id, event_time: happened, time, attempts, reason };
  return whole ? { ...about, event } : about;
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function readable(deadLetter: DeadLetter): string {
  const { time, attempts, reason, event } = deadLetter;
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  return `${name(deadLetter)}\n    ${printable(`${event.type} of ${event.key}`)}, tried ${times}, given up ${printable(time)}\n    ${printable(reason)}\n`;
}

function name({ id, group, event }: DeadLetter): string {
  return printable(`${event.topic}  ${group}  ${id}`);
}

function summary(count: number, noun: string, rest: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'} ${rest}\n`;
}

function messageOf(error: unknown): string {
  return printable(error instanceof Error ? error.message : String(error));
}
