/** Everything that works around kafkajs 2.2.4. The numbers are threads of https://github.com/tulios/kafkajs. */
import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '@ecf/kit';
import type { Logger } from '@ecf/kit/telemetry';
import type { Admin, Consumer, EachBatchPayload, LogEntry, Producer } from 'kafkajs';
import { isOverWithin } from '../handle-event.js';

/** kafkajs logs events that it handles itself, such as a rebalance, as errors (#691). Here they are debug. */
export function kafkaLogCreator(logger: Logger) {
  return () =>
    ({ namespace, label, log }: LogEntry) => {
      const { timestamp: _timestamp, message, logger: _logger, ...fields } = log;
      logger.debug({ kafkajs: { namespace, level: label, ...fields } }, `kafkajs: ${message}`);
    };
}

/** The leader of a group assigns its own topics to every member (#1040, #1679), so each topic has its own group. */
export function brokerGroupOf(group: string, topic: string): string {
  return `${group}.${topic}`;
}

const LEADERS_TIMEOUT_MS = 15_000;

/**
 * `createTopics` waits for leaders, but fails when a broker does not have the new topic yet (#815). This queries the leader of
 * each partition until all of them answer.
 */
export async function waitForLeaders(admin: Admin, topics: readonly string[]): Promise<void> {
  const ask = async () => {
    for (const topic of topics) await admin.fetchTopicOffsets(topic);
  };
  await retry(ask, { signal: AbortSignal.timeout(LEADERS_TIMEOUT_MS) });
}

/**
 * `sendBatch` may resolve without having sent everything when it retries after a partition got a new leader (#1303). So
 * kafkajs sends each request once, and the caller repeats it. Its idempotent producer requires retries, so it is not used.
 */
export const SEND_ONCE = { idempotent: false, retry: { retries: 0 } };

/**
 * kafkajs keeps a connection that does not answer any more, and each request on it times out (#919). So the producer is
 * replaced after a request without an answer.
 */
export function replacedAfterSilence(connect: () => Promise<Producer>) {
  let current: Promise<Producer> | null = null;
  async function close(): Promise<void> {
    const former = current;
    current = null;
    await former?.then((producer) => producer.disconnect()).catch(() => undefined);
  }
  return {
    async use(work: (producer: Producer) => Promise<void>): Promise<void> {
      current ??= connect().catch((error) => {
        current = null;
        throw error;
      });
      const used = current;
      try {
        await work(await used);
      } catch (error) {
        if (current === used && hasCause(error, ({ name }) => name === 'KafkaJSRequestTimeoutError')) close();
        throw error;
      }
    },
    close,
  };
}

interface Cause {
  readonly name?: string;
  readonly type?: string;
  readonly cause?: unknown;
}

/** Whether an error of kafkajs, which wraps errors in others, has one of a kind among its causes. */
export function hasCause(error: unknown, isKind: (cause: Cause) => boolean): boolean {
  for (let each = error as Cause | undefined; each; each = each.cause as Cause | undefined)
    if (isKind(each)) return true;
  return false;
}

/** Milliseconds that the fetch loop waits for a batch. */
const SLOW_BATCH_MS = 500;

/** Batches that the fetch loop does not wait for. */
export interface SlowBatches {
  /** Waits for the batch, or pauses its partition while the batch continues. `process` must not reject. */
  run(payload: EachBatchPayload, process: () => Promise<void>): Promise<void>;
  /** Resolves when no batch is being processed. */
  idle(): Promise<void>;
}

/**
 * kafkajs fetches the next messages only when all batches of the last fetch are done, so one slow partition stops the others
 * (#683, #1732). A batch that takes longer than {@link SLOW_BATCH_MS} continues with its partition paused.
 */
export function createSlowBatches(): SlowBatches {
  const running = new Map<number, Promise<void>>();
  return {
    async run(payload, process) {
      const { partition } = payload.batch;
      // A batch of the former assignment, or of a consumer that was replaced, may still run.
      if (!running.has(partition)) {
        const done = process().finally(() => running.delete(partition));
        running.set(partition, done);
        await isOverWithin(SLOW_BATCH_MS, done);
      }
      const unfinished = running.get(partition);
      if (unfinished !== undefined) unfinished.then(payload.pause());
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}

/** Its own restart follows only some errors (#1299, #1443). It is off, and the caller opens a new consumer after each crash. */
export const NO_RESTART = { restartOnFailure: async () => false };

/** Milliseconds without a heartbeat after which the consumer counts as disconnected, and after which it is replaced. */
const QUIET_MS = 15_000;
const SILENT_MS = 90_000;

/**
 * Rejects when the consumer crashes. A consumer may also stop reading without a crash (#659), so this also rejects when no
 * heartbeat, due each second, arrives for longer than a rebalance may take. Resolves when the signal is aborted.
 */
export async function watchConsumer(
  consumer: Consumer,
  signal: AbortSignal,
  onConnected: (connected: boolean) => void,
): Promise<void> {
  const crash = new AbortController();
  const over = AbortSignal.any([signal, crash.signal]);
  let last = performance.now();
  const beat = () => {
    last = performance.now();
    if (!over.aborted) onConnected(true);
  };
  consumer.on(consumer.events.CRASH, ({ payload }) => crash.abort(payload.error));
  consumer.on(consumer.events.HEARTBEAT, beat);
  consumer.on(consumer.events.GROUP_JOIN, beat);
  while (!over.aborted) {
    await delay(QUIET_MS / 3, undefined, { signal: over, ref: false }).catch(() => undefined);
    const silent = performance.now() - last;
    if (silent > SILENT_MS) throw new Error('the consumer sent no heartbeat');
    if (silent > QUIET_MS) onConnected(false);
  }
  crash.signal.throwIfAborted();
}

const LEAVE_MS = 3_000;

/**
 * kafkajs finishes connecting and joining before it stops a consumer (#1571). So the stop waits a bounded time, and the
 * consumer leaves the group afterwards. `reading` is settled when it has joined.
 */
export async function leaveInTime(consumer: Consumer, reading: Promise<void>): Promise<void> {
  const left = reading.catch(() => undefined).then(() => consumer.disconnect());
  await isOverWithin(LEAVE_MS, left);
}
