import { setImmediate as nextTurn } from 'node:timers/promises';
import { retry } from '@ecf/kit';
import type { Logger } from '@ecf/kit/telemetry';
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { OpenKafka } from './kafka-client.js';
import { createSlowBatches, leaveInTime, NO_RESTART, type SlowBatches, watchConsumer } from './kafkajs-workarounds.js';

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
  /** The effect of a whole batch. False if the batch failed or cannot be handled as one: then `handle` gets each message. */
  handleTogether: (messages: readonly KafkaMessage[]) => Promise<boolean>;
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
/** Time after which the other members get the partitions of a member that was killed. */
const SESSION_MS = 10_000;
/**
 * Attempts of one consumer to reach the brokers, about a second apart. A new consumer is a new member, and the group waits
 * for the former one until its session ends.
 */
const OUTAGE_RETRIES = 60;

/** The assignment of a member between two rebalances. */
interface Assignment {
  /** Aborted at the next rebalance. */
  readonly lost: AbortController;
  /** Aborted when the assignment is lost or the member stops. */
  readonly signal: AbortSignal;
}

interface Member {
  readonly options: KafkaConsumerOptions;
  readonly stopping: AbortSignal;
  readonly batches: SlowBatches;
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
    batches: createSlowBatches(),
    assignment: newAssignment(stopping.signal),
    onJoined,
  };
  onConnected(false);
  const ended = retry(() => readUntilStopped(member), {
    signal: stopping.signal,
    onFailure: (error, _, pauseMs) =>
      logger.warn({ err: error, group, topic, retry_in_ms: pauseMs }, 'the consumer is replaced'),
  }).catch(() => undefined);
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

/** Resolves when the member is stopped; rejects when this consumer breaks. */
async function readUntilStopped(member: Member): Promise<void> {
  const { options, stopping, batches } = member;
  const consumer = await openConsumer(options);
  const over = new AbortController();
  const ended = AbortSignal.any([over.signal, stopping]);
  consumer.on(consumer.events.REBALANCING, () => renewAssignment(member));
  consumer.on(consumer.events.GROUP_JOIN, () => {
    renewAssignment(member);
    member.onJoined();
  });
  const reading = read(consumer, member, ended);
  try {
    const watched = watchConsumer(consumer, ended, options.onConnected);
    await Promise.race([watched, reading.then(() => watched)]);
    await batches.idle();
  } finally {
    over.abort();
    options.onConnected(false);
    renewAssignment(member);
    await leaveInTime(consumer, reading);
  }
}

async function openConsumer({ open, prepare, group }: KafkaConsumerOptions): Promise<Consumer> {
  await prepare();
  const client = await open(OUTAGE_RETRIES);
  return client.consumer({
    groupId: group,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    maxBytesPerPartition: MAX_BYTES_PER_PARTITION,
    allowAutoTopicCreation: false,
    retry: NO_RESTART,
  });
}

/** Starts to read. A consumer that was given up meanwhile handles nothing. */
async function read(consumer: Consumer, member: Member, ended: AbortSignal): Promise<void> {
  const { topic, partitions } = member.options;
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  if (ended.aborted) return;
  const commit = createSharedCommit();
  await consumer.run({
    autoCommit: false,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: partitions,
    eachBatch: async (payload) => {
      if (!ended.aborted) await member.batches.run(payload, () => handleBatch(payload, member, commit));
    },
  });
}

/** Handles the messages in their order and commits the handled ones. Never rejects: the broker repeats uncommitted messages. */
async function handleBatch(
  payload: EachBatchPayload,
  { options, assignment }: Member,
  commit: SharedCommit,
): Promise<void> {
  const { batch, resolveOffset, commitOffsetsIfNecessary, uncommittedOffsets } = payload;
  const { topic, partition, messages } = batch;
  const { lost, signal } = assignment;
  let last: KafkaMessage | undefined;
  if (!signal.aborted && (await options.handleTogether(messages))) last = messages.at(-1);
  else
    for (const message of messages) {
      if (signal.aborted || !(await handleMessage(message, partition, signal, options))) break;
      last = message;
    }
  if (last === undefined || lost.signal.aborted) return;
  resolveOffset(last.offset);
  await commit(() =>
    commitOffsetsIfNecessary(uncommittedOffsets()).catch((error) =>
      options.logger.debug({ err: error, topic, partition }, 'offsets could not be committed'),
    ),
  );
}

/** Runs a commit of all offsets that are resolved by then. It must not reject. */
type SharedCommit = (commit: () => Promise<void>) => Promise<void>;

/** Each commit is a request to the broker, so partitions whose batches end together, or while another commit runs, share one. */
function createSharedCommit(): SharedCommit {
  let running = Promise.resolve();
  let next: Promise<void> | null = null;
  return (commit) => {
    next ??= running
      .then(() => nextTurn())
      .then(() => {
        next = null;
        running = commit();
        return running;
      });
    return next;
  };
}

/** Repeats the effect until it is done. False if the partition was lost before. */
async function handleMessage(
  message: KafkaMessage,
  partition: number,
  signal: AbortSignal,
  { handle, logger, topic, group }: KafkaConsumerOptions,
): Promise<boolean> {
  const place = { topic, group, partition, offset: message.offset };
  return retry(() => handle(message, partition, signal), {
    signal,
    onFailure: (error, _, pauseMs) =>
      logger.warn({ err: error, ...place, retry_in_ms: pauseMs }, 'an event waits for its consumer'),
  }).then(
    () => true,
    () => false,
  );
}

function newAssignment(stopping: AbortSignal): Assignment {
  const lost = new AbortController();
  return { lost, signal: AbortSignal.any([lost.signal, stopping]) };
}

/** Ends the batches of the present assignment. */
function renewAssignment(member: Member): void {
  member.assignment.lost.abort();
  member.assignment = newAssignment(member.stopping);
}
