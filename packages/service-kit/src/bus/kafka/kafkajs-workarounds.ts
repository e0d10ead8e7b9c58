/**
 * Everything that works around kafkajs 2.2.4, in one place. The numbers are threads of https://github.com/tulios/kafkajs;
 * "observed" marks what no thread describes.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Consumer, EachBatchPayload, LogEntry } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.js';
import { repeat } from './repeat.js';

/** kafkajs logs events that it handles itself, such as a rebalance, as errors (#691, #1468). Here they are debug. */
export function kafkaLogCreator(logger: Logger) {
  return () =>
    ({ namespace, label, log }: LogEntry) => {
      const { timestamp: _timestamp, message, logger: _logger, ...fields } = log;
      logger.debug({ kafkajs: { namespace, level: label, ...fields } }, `kafkajs: ${message}`);
    };
}

/** kafkajs uses other defaults where NODE_ENV is `test` (observed), so every value is given. */
export const CONNECTION_RETRY = { initialRetryTime: 100, maxRetryTime: 1_000, factor: 0.2, multiplier: 2 };

/** The leader of a group assigns its own topics to every member (#1040, #1679), so each topic has its own group. */
export function brokerGroupOf(group: string, topic: string): string {
  return `${group}.${topic}`;
}

const LEADERS_TIMEOUT_MS = 15_000;

/**
 * `createTopics` waits for leaders, but fails when a broker does not know the new topic yet (#815). This asks the leader of
 * each partition until all of them answer.
 */
export async function waitForLeaders(admin: Admin, topics: readonly string[]): Promise<void> {
  const ask = async () => {
    for (const topic of topics) await admin.fetchTopicOffsets(topic);
  };
  await repeat(ask, AbortSignal.timeout(LEADERS_TIMEOUT_MS));
}

/**
 * `sendBatch` may resolve without having sent everything when it retries after a partition got a new leader (#1303). So
 * kafkajs sends each request once, and the caller repeats it. Its idempotent producer requires retries, so it is not used.
 */
export const SEND_ONCE = { idempotent: false, retry: { retries: 0 } };

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
export function createSlowBatches(resume: (partition: number) => void): SlowBatches {
  const running = new Map<number, Promise<void>>();
  return {
    async run(payload, process) {
      const { partition } = payload.batch;
      // A batch of the former assignment, or of a consumer that was replaced, still runs.
      if (running.has(partition)) {
        payload.pause();
        return;
      }
      let paused = false;
      const done = process().finally(() => {
        running.delete(partition);
        if (paused) resume(partition);
      });
      running.set(partition, done);
      if (await endsWithin(done, SLOW_BATCH_MS)) return;
      payload.pause();
      paused = true;
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}

/** Milliseconds without a heartbeat after which the consumer counts as disconnected, and after which it is replaced. */
const QUIET_MS = 15_000;
const SILENT_MS = 90_000;

/**
 * A consumer may stop reading without a crash event (#659, #660). Heartbeats come each second: rejects when they stay away,
 * longer than a rebalance may take. Ends with the signal.
 */
export async function watchHeartbeats(
  consumer: Consumer,
  signal: AbortSignal,
  onConnected: (connected: boolean) => void,
): Promise<void> {
  let last = performance.now();
  const beat = () => {
    last = performance.now();
    if (!signal.aborted) onConnected(true);
  };
  consumer.on(consumer.events.HEARTBEAT, beat);
  consumer.on(consumer.events.GROUP_JOIN, beat);
  while (!signal.aborted) {
    await delay(QUIET_MS / 3, undefined, { signal, ref: false }).catch(() => undefined);
    const silent = performance.now() - last;
    if (silent > SILENT_MS) throw new Error('the consumer sent no heartbeat');
    if (silent > QUIET_MS) onConnected(false);
  }
}

/**
 * Rejects when the consumer crashes. kafkajs restarts a consumer only after some errors (#1299, #1443). So its own restart
 * is off, and the caller always opens a new consumer.
 */
export function rejectOnCrash(consumer: Consumer): Promise<never> {
  return new Promise((_, reject) => {
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  });
}
export const NO_RESTART = { restartOnFailure: async () => false };

/** A consumer that is stopped during a rebalance joins again first (#1571), so the stop does not wait longer for it. */
const LEAVE_MS = 3_000;

export async function disconnectInTime(consumer: Consumer, logger: Logger): Promise<void> {
  const left = consumer.disconnect().catch((error) => logger.debug({ err: error }, 'disconnect failed'));
  await Promise.race([left, delay(LEAVE_MS, undefined, { ref: false })]);
}

async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
