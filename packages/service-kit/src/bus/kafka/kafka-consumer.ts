import { setTimeout as delay } from 'node:timers/promises';
import type { Consumer, EachBatchPayload, KafkaMessage } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.js';
import type { OpenKafka } from './kafka-client.js';

export interface KafkaConsumerOptions {
  open: OpenKafka;
  /** As the brokers know them. */
  topic: string;
  group: string;
  partitions: number;
  logger: Logger;
  /** Runs before each attempt to join. */
  prepare: () => Promise<void>;
  /**
   * The effect of a message; it is committed afterwards. When it rejects, it is called again with growing pauses until the
   * signal says that the message is no longer this member's.
   */
  handle: (message: KafkaMessage, partition: number, signal: AbortSignal) => Promise<void>;
  onConnected: (connected: boolean) => void;
}

/** A member of a group, reading one topic. It connects by itself, and again after a loss. */
export interface KafkaConsumer {
  /** Resolves when the member has partitions for the first time, or was stopped before. */
  readonly joined: Promise<void>;
  /** Takes nothing new, waits for what is being handled, commits it and leaves the group. */
  stop(): Promise<void>;
}

/** Milliseconds after which a partition gives the others their turn, and after which one message is waited for apart. */
const TURN_MS = 500;
const PATIENCE_MS = 1_000;
const FETCH_WAIT_MS = 500;
const HEARTBEAT_MS = 1_000;
/** After this long the partitions of a member that was killed go to the others. */
const SESSION_MS = 10_000;
/** A member that is still joining is not waited for longer when it leaves. */
const LEAVE_MS = 3_000;
/** How long a member is silent before that is news. */
const NEWS_MS = 15_000;
const REBALANCE_MS = 60_000;
/** A consumer that gives no sign for so long is replaced; a join may take as long as a rebalance. */
const SILENCE_MS = REBALANCE_MS + 30_000;
/**
 * Tries of one consumer, about a second apart, before it is replaced. A new one is a new member, and the group waits for
 * the former one until its session ends.
 */
const OUTAGE_RETRIES = 60;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** The time between two assignments; ends when the group is balanced anew. */
interface Term {
  readonly lost: AbortController;
  /** Aborted when the term is lost or the member stops. */
  readonly signal: AbortSignal;
}

/**
 * Joins a group. kafkajs fetches for all partitions in rounds and waits for the slowest of a round: so a partition hands
 * back what it has not come to after {@link TURN_MS}, and a message that takes longer than {@link PATIENCE_MS} (slow, or
 * failing and tried again) is finished apart while its partition is paused and the others go on.
 */
export function startKafkaConsumer(options: KafkaConsumerOptions): KafkaConsumer {
  const { topic, group, logger } = options;
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const apart = new Map<number, Promise<void>>();
  let term = newTerm();
  let lastSign = performance.now();
  let current: Consumer | null = null;
  let connected = false;
  let resolveJoined = () => {};
  const joined = new Promise<void>((resolve) => {
    resolveJoined = resolve;
  });

  function newTerm(): Term {
    const lost = new AbortController();
    return { lost, signal: AbortSignal.any([lost.signal, stopping.signal]) };
  }

  /** False when the message ceased to be this member's before its effect. */
  async function handle(message: KafkaMessage, partition: number, signal: AbortSignal): Promise<boolean> {
    let pause = FIRST_PAUSE_MS;
    while (true) {
      try {
        await options.handle(message, partition, signal);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        const place = { topic, group, partition, offset: message.offset };
        logger.warn({ err: error, ...place, retry_in_ms: pause }, 'an event waits for its consumer');
      }
      await delay(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return false;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  }

  function begin(message: KafkaMessage, partition: number, signal: AbortSignal): Promise<boolean> {
    const work = handle(message, partition, signal);
    underWay.add(work);
    const forget = () => underWay.delete(work);
    work.then(forget, forget);
    return work;
  }

  async function takeTurn(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch, resolveOffset, isRunning, isStale } = payload;
    const { partition } = batch;
    if (consumer !== current) return;
    // Batches come again after a rebalance that was begun and given up, too: brokers that went down with it in their hands
    // come back with the generation before, and nobody joins anew.
    if (term.lost.signal.aborted) term = newTerm();
    const own = term;
    if (apart.has(partition)) {
      payload.pause();
      return;
    }
    const end = performance.now() + TURN_MS;
    for (const message of batch.messages) {
      if (own.signal.aborted || !isRunning() || isStale() || performance.now() > end) break;
      const work = begin(message, partition, own.signal);
      const outcome = await withPatience(work);
      if (outcome === 'late') {
        finishApart(consumer, payload, message, { work, own });
        break;
      }
      if (!outcome || own.lost.signal.aborted) break;
      resolveOffset(message.offset);
    }
    if (!own.lost.signal.aborted) await payload.commitOffsetsIfNecessary(payload.uncommittedOffsets());
  }

  function finishApart(
    consumer: Consumer,
    payload: EachBatchPayload,
    message: KafkaMessage,
    { work, own }: { work: Promise<boolean>; own: Term },
  ): void {
    const { partition } = payload.batch;
    payload.pause();
    const finished = work
      .then(async (done) => {
        if (!done || own.lost.signal.aborted) return;
        const next = { topic, partition, offset: String(BigInt(message.offset) + 1n) };
        await consumer.commitOffsets([next]);
        if (!own.signal.aborted) consumer.seek(next);
      })
      .catch((error) => logger.debug({ err: error, topic, group, partition }, 'an event that took long comes again'))
      .finally(() => {
        apart.delete(partition);
        underWay.delete(finished);
        resume(partition);
      });
    apart.set(partition, finished);
    underWay.add(finished);
  }

  /** The consumer may be another one than that which was told to pause. */
  function resume(partition: number): void {
    try {
      current?.resume([{ topic, partitions: [partition] }]);
    } catch (error) {
      logger.debug({ err: error, group, topic }, 'the consumer is not running');
    }
  }

  /** Reads until the consumer breaks or the member is stopped. */
  async function read(): Promise<void> {
    await options.prepare();
    const client = await options.open(OUTAGE_RETRIES);
    const consumer = client.consumer({
      groupId: group,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: REBALANCE_MS,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: 256 * 1024,
      allowAutoTopicCreation: false,
      retry: {
        retries: OUTAGE_RETRIES,
        initialRetryTime: 100,
        maxRetryTime: 1_000,
        restartOnFailure: async () => false,
      },
    });
    const { CRASH, GROUP_JOIN, REBALANCING, HEARTBEAT } = consumer.events;
    const crashed = new Promise<Error>((resolve) => {
      consumer.on(CRASH, ({ payload }) => resolve(payload.error));
    });
    consumer.on(HEARTBEAT, sign);
    consumer.on(REBALANCING, () => term.lost.abort());
    consumer.on(GROUP_JOIN, ({ payload }) => {
      sign();
      term.lost.abort();
      term = newTerm();
      logger.debug({ group, topic, assignment: payload.memberAssignment }, 'joined the group');
      resolveJoined();
    });
    const over = new AbortController();
    const ending = AbortSignal.any([over.signal, stopping.signal]);
    try {
      current = consumer;
      lastSign = performance.now();
      const end = await Promise.race([run(consumer, ending), crashed, silence(ending), aborted(ending)]);
      if (end !== null) throw end;
      await Promise.allSettled(underWay);
    } finally {
      over.abort();
      current = null;
      tell(false);
      term.lost.abort();
      const left = consumer
        .disconnect()
        .catch((error) => logger.debug({ err: error, group, topic }, 'disconnect failed'));
      await Promise.race([left, delay(LEAVE_MS, undefined, { ref: false })]);
    }
  }

  /** Rejects where the brokers are not found; a start that comes to its end too late is undone. */
  async function run(consumer: Consumer, ending: AbortSignal): Promise<never> {
    await consumer.connect();
    if (!ending.aborted) await consumer.subscribe({ topics: [topic], fromBeginning: true });
    if (!ending.aborted)
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: options.partitions,
        eachBatch: (payload) => takeTurn(consumer, payload),
      });
    if (ending.aborted) await consumer.disconnect();
    return new Promise<never>(() => {});
  }

  function sign(): void {
    lastSign = performance.now();
    tell(true);
  }

  /** Heartbeats come each second; kafkajs looks for lost brokers in silence. */
  async function silence(signal: AbortSignal): Promise<Error | null> {
    while (!signal.aborted) {
      await delay(NEWS_MS / 3, undefined, { signal, ref: false }).catch(() => undefined);
      const silent = performance.now() - lastSign;
      if (silent > SILENCE_MS) return new Error('the consumer gave no sign of life');
      if (silent > NEWS_MS) tell(false);
    }
    return null;
  }

  function tell(present: boolean): void {
    if (present === connected) return;
    connected = present;
    options.onConnected(present);
    if (stopping.signal.aborted) return;
    if (present) logger.info({ group, topic }, 'listening');
    else logger.warn({ group, topic }, 'the consumer lost its brokers, or the group is being balanced for long');
  }

  async function live(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (!stopping.signal.aborted) {
      const began = performance.now();
      try {
        await read();
      } catch (error) {
        if (stopping.signal.aborted) break;
        if (performance.now() - began > NEWS_MS) pause = FIRST_PAUSE_MS;
        const level = pause < LONGEST_PAUSE_MS ? 'info' : 'warn';
        logger[level]({ err: error, group, topic, retry_in_ms: pause }, 'the consumer is started anew');
        await delay(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
  }

  options.onConnected(false);
  const lived = live();
  return {
    joined,
    async stop() {
      stopping.abort();
      resolveJoined();
      await lived;
      await Promise.allSettled(underWay);
    },
  };
}

/** What the work came to, or `late` when that takes long; a failure of the work is never left unheard. */
async function withPatience(work: Promise<boolean>): Promise<boolean | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), PATIENCE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener('abort', () => resolve(null), { once: true });
  });
}
