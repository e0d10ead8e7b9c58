import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.js';
import type { OpenKafka } from './kafka-client.js';
import {
  createSlowBatches,
  disconnectInTime,
  NO_RESTART,
  rejectOnCrash,
  type SlowBatches,
  watchHeartbeats,
} from './kafkajs-workarounds.js';

export interface KafkaConsumerOptions {
  open: OpenKafka;
  /** Names at the brokers. */
  topic: string;
  group: string;
  partitions: number;
  logger: Logger;
  /** Runs before each attempt to join. */
  prepare: () => Promise<void>;
  /**
   * The effect of a message; its offset is committed afterwards. When it rejects, it is called again with growing pauses
   * until the signal says that the partition belongs to another member.
   */
  handle: (message: KafkaMessage, partition: number, signal: AbortSignal) => Promise<void>;
  /** The effect of a whole batch. False if it failed or cannot be: then `handle` gets each message. */
  handleTogether?: (messages: readonly KafkaMessage[], signal: AbortSignal) => Promise<boolean>;
  onConnected: (connected: boolean) => void;
}

/** A member of a group that reads one topic. It connects automatically, and again after a loss. */
export interface KafkaConsumer {
  /** Resolves when the member has joined the group for the first time, or was stopped before. */
  readonly joined: Promise<void>;
  /** Takes nothing new, waits for what is being handled, commits it and leaves the group. */
  stop(): Promise<void>;
}

const FETCH_WAIT_MS = 500;
const MAX_BYTES_PER_PARTITION = 256 * 1024;
const HEARTBEAT_MS = 1_000;
/** After this long the partitions of a member that was killed go to the others. */
const SESSION_MS = 10_000;
const REBALANCE_MS = 60_000;
/**
 * Attempts of one consumer to reach the brokers, about a second apart. A new consumer is a new member, and the group waits
 * for the former one until its session ends.
 */
const OUTAGE_RETRIES = 60;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** A consumer that ran for so long is replaced without a growing pause. */
const STABLE_MS = 15_000;

/** The assignment of a member between two rebalances; `lost` is aborted at the next rebalance. */
interface Assignment {
  readonly lost: AbortController;
  /** Aborted when the assignment is lost or the member stops. */
  readonly signal: AbortSignal;
}

interface Member {
  readonly options: KafkaConsumerOptions;
  readonly stopping: AbortSignal;
  readonly batches: SlowBatches;
  current: Consumer | null;
  assignment: Assignment;
  onJoined(): void;
}

/** Joins a group; a consumer that breaks is replaced by a new one. */
export function startKafkaConsumer(options: KafkaConsumerOptions): KafkaConsumer {
  const stopping = new AbortController();
  let onJoined = () => {};
  const joined = new Promise<void>((resolve) => {
    onJoined = resolve;
  });
  const { logger, topic, group } = options;
  let connected: boolean | null = null;
  const onConnected = (present: boolean) => {
    if (present === connected) return;
    connected = present;
    options.onConnected(present);
    logger.info({ group, topic }, present ? 'the consumer is connected' : 'the consumer is not connected');
  };
  const member: Member = {
    options: { ...options, onConnected },
    stopping: stopping.signal,
    batches: createSlowBatches((partition) => {
      try {
        member.current?.resume([{ topic, partitions: [partition] }]);
      } catch (error) {
        logger.debug({ err: error, group, topic }, 'the consumer is not running');
      }
    }),
    current: null,
    assignment: newAssignment(stopping.signal),
    onJoined,
  };
  onConnected(false);
  const ended = keepReading(member);
  return {
    joined,
    async stop() {
      stopping.abort();
      onJoined();
      await ended;
      await member.batches.idle();
    },
  };
}

async function keepReading(member: Member): Promise<void> {
  const { stopping, options } = member;
  const { logger, group, topic } = options;
  let pause = FIRST_PAUSE_MS;
  while (!stopping.aborted) {
    const began = performance.now();
    try {
      await readUntilStopped(member);
    } catch (error) {
      if (stopping.aborted) return;
      if (performance.now() - began > STABLE_MS) pause = FIRST_PAUSE_MS;
      logger.warn({ err: error, group, topic, retry_in_ms: pause }, 'the consumer is replaced');
      await delay(pause, undefined, { signal: stopping }).catch(() => undefined);
      pause = Math.min(pause * 2, MAX_PAUSE_MS);
    }
  }
}

/** Resolves when the member is stopped; rejects when this consumer breaks. */
async function readUntilStopped(member: Member): Promise<void> {
  const { options, stopping, batches } = member;
  const consumer = await openConsumer(options);
  const over = new AbortController();
  const ended = AbortSignal.any([over.signal, stopping]);
  watchAssignment(consumer, member, ended);
  member.current = consumer;
  try {
    const broken = [rejectOnCrash(consumer), watchHeartbeats(consumer, ended, options.onConnected)];
    await Promise.race([read(consumer, member, ended).then(() => aborted(stopping)), ...broken, aborted(stopping)]);
    await batches.idle();
  } finally {
    over.abort();
    member.current = null;
    options.onConnected(false);
    member.assignment.lost.abort();
    await disconnectInTime(consumer, options.logger);
  }
}

async function openConsumer({ open, prepare, group }: KafkaConsumerOptions): Promise<Consumer> {
  await prepare();
  const client = await open(OUTAGE_RETRIES);
  return client.consumer({
    groupId: group,
    sessionTimeout: SESSION_MS,
    rebalanceTimeout: REBALANCE_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
    allowAutoTopicCreation: false,
    retry: { retries: OUTAGE_RETRIES, initialRetryTime: 100, maxRetryTime: 1_000, ...NO_RESTART },
  });
}

function watchAssignment(consumer: Consumer, member: Member, ended: AbortSignal): void {
  consumer.on(consumer.events.REBALANCING, () => member.assignment.lost.abort());
  consumer.on(consumer.events.GROUP_JOIN, () => {
    if (ended.aborted) return;
    member.assignment.lost.abort();
    member.assignment = newAssignment(member.stopping);
    member.onJoined();
  });
}

/** Starts to read. A consumer that was given up while it connected is disconnected again. */
async function read(consumer: Consumer, member: Member, ended: AbortSignal): Promise<void> {
  const { topic, partitions } = member.options;
  await consumer.connect();
  if (!ended.aborted) await consumer.subscribe({ topics: [topic], fromBeginning: true });
  if (!ended.aborted)
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: partitions,
      eachBatch: async (payload) => {
        if (!ended.aborted) await member.batches.run(payload, () => handleBatch(payload, member));
      },
    });
  if (ended.aborted) await consumer.disconnect();
}

/** Handles the messages in their order and commits those that are done. Never rejects: what is not committed comes again. */
async function handleBatch(payload: EachBatchPayload, member: Member): Promise<void> {
  const { batch, resolveOffset, commitOffsetsIfNecessary } = payload;
  const { topic, partition } = batch;
  // Batches also arrive after a rebalance that the brokers gave up, without a new join.
  if (member.assignment.lost.signal.aborted) member.assignment = newAssignment(member.stopping);
  const { lost, signal } = member.assignment;
  let last: string | null = null;
  if (batch.messages.length > 1 && !signal.aborted && (await member.options.handleTogether?.(batch.messages, signal)))
    last = batch.messages.at(-1)?.offset ?? null;
  else
    for (const message of batch.messages) {
      if (signal.aborted || !(await handleMessage(message, partition, signal, member.options))) break;
      last = message.offset;
    }
  if (last === null || lost.signal.aborted) return;
  resolveOffset(last);
  const offset = String(BigInt(last) + 1n);
  await commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset }] }] }).catch((error) =>
    member.options.logger.debug({ err: error, topic, partition, offset }, 'the offset could not be committed'),
  );
}

/** Repeats the effect until it is done. False if the partition was lost before. */
async function handleMessage(
  message: KafkaMessage,
  partition: number,
  signal: AbortSignal,
  { handle, logger, topic, group }: KafkaConsumerOptions,
): Promise<boolean> {
  let pause = FIRST_PAUSE_MS;
  while (true) {
    try {
      await handle(message, partition, signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      const place = { topic, group, partition, offset: message.offset };
      logger.warn({ err: error, ...place, retry_in_ms: pause }, 'an event waits for its consumer');
    }
    await delay(pause, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return false;
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}

function newAssignment(stopping: AbortSignal): Assignment {
  const lost = new AbortController();
  return { lost, signal: AbortSignal.any([lost.signal, stopping]) };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
