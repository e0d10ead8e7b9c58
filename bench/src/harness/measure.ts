/** Seconds a task took per run, for each round. */
type Rounds = number[];

/** Two tasks measured alternately, so that changing speed of the machine slows both. */
export interface Comparison {
  subject: number;
  reference: number;
  /** Median of subject / reference, round by round, and its smallest and largest. */
  ratio: number;
  least: number;
  most: number;
  rounds: number;
  /**
   * The same ratio in processor time of this process, including its thread pool. Useful only if both tasks run in this
   * process.
   */
  processorRatio: number;
}

/** Runs `count` repetitions; resolves when all are done. */
export type Task = (count: number) => Promise<unknown> | unknown;

/**
 * Measures two tasks round by round, alternating.
 * @param count repetitions a round
 * @param rounds measured rounds; one more before them warms up
 * @returns seconds per repetition and the ratio
 */
export async function compare(subject: Task, reference: Task, count: number, rounds = 9): Promise<Comparison> {
  const subjects: Rounds = [];
  const references: Rounds = [];
  const processor: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const start = processorTime();
    const a = await seconds(subject, count);
    const between = processorTime();
    const b = await seconds(reference, count);
    if (round === 0) continue;
    processor.push((between - start) / (processorTime() - between));
    subjects.push(a / count);
    references.push(b / count);
  }
  const ratios = subjects.map((value, index) => value / (references[index] as number)).sort((a, b) => a - b);
  return {
    subject: median(subjects),
    reference: median(references),
    ratio: median(ratios),
    least: ratios[0] as number,
    most: ratios[ratios.length - 1] as number,
    rounds,
    processorRatio: median(processor),
  };
}

/** Microseconds of processor time, user and system, that this process has used. */
function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Seconds that a task takes for `count` repetitions. */
export async function seconds(task: Task, count: number): Promise<number> {
  const start = process.hrtime.bigint();
  await task(count);
  return Number(process.hrtime.bigint() - start) / 1e9;
}

export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** The value below which the given share (0 to 1) of the values lies. */
export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;
}

/** Repeats a synchronous task. */
export function repeat(task: () => unknown): Task {
  return (count) => {
    for (let i = 0; i < count; i += 1) task();
  };
}

/** Repeats an asynchronous task, one after the other. */
export function inTurn(task: () => Promise<unknown>): Task {
  return async (count) => {
    for (let i = 0; i < count; i += 1) await task();
  };
}

/** Repeats an asynchronous task with a fixed number in flight. */
export function together(task: (index: number) => Promise<unknown>, callers: number): Task {
  return async (count) => {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) await task(next++);
    };
    await Promise.all(Array.from({ length: callers }, work));
  };
}
