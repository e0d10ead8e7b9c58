import fs from 'node:fs';

/** Clock ticks a second in which Linux counts processor time; 100 on every architecture that Node runs on. */
const TICKS = 100;

/** The facts of a process from the system. */
export interface Stat {
  pid: number;
  parent: number;
  command: string;
  /** False for a zombie, which has ended and waits for its parent. */
  running: boolean;
  /** Seconds of processor time, user and system. */
  own: number;
  /** The same for children that have ended. */
  ended: number;
}

/** Seconds of processor time (user and system) of a process alone; NaN on systems other than Linux. */
export function processorSeconds(pid: number): number {
  return statOf(pid)?.own ?? Number.NaN;
}

/** The same for its first thread, on which Node runs JavaScript. */
export function mainThreadSeconds(pid: number): number {
  return statOf(pid, `/proc/${pid}/task/${pid}/stat`)?.own ?? Number.NaN;
}

/** The same for a process with all that it started, directly or not, including ended ones. */
export function processorSecondsOfTree(pid: number): number {
  const top = statOf(pid);
  if (top === null) return Number.NaN;
  return descendantsOf(pid).reduce((sum, one) => sum + one.own + one.ended, top.own + top.ended);
}

/** Bytes of memory that a process holds (resident set). */
export function residentBytes(pid: number): number {
  return kilobytes(pid, 'VmRSS') * 1024;
}

/** The largest resident set that a process has had. */
export function peakBytes(pid: number): number {
  return kilobytes(pid, 'VmHWM') * 1024;
}

/** Resets {@link peakBytes}. Source: proc(5), clear_refs. */
export function forgetPeak(pid: number): void {
  fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** The children of a process whose command line contains a text. */
export function childCalled(pid: number, text: string): number {
  const found = childrenOf(pid).find((child) => {
    return fs.readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').includes(text);
  });
  if (found === undefined) throw new Error(`process ${pid} has no child with ${text} in its command line`);
  return found.pid;
}

/** The processes that a process has started and that they have started; none on systems other than Linux. */
export function descendantsOf(pid: number): Stat[] {
  if (!fs.existsSync('/proc/self/stat')) return [];
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child.pid)]);
}

/** True if the process still runs and its number was not reused. */
export function isRunning({ pid, command }: Stat): boolean {
  const present = statOf(pid);
  return present?.running === true && present.command === command;
}

function childrenOf(pid: number): Stat[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat): stat is Stat => stat?.parent === pid);
}

function statOf(pid: number, file = `/proc/${pid}/stat`): Stat | null {
  let text: string;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const ticks = (field: number): number => Number(fields[field - 3]) / TICKS;
  return {
    pid,
    parent: Number(fields[1]),
    command: text.slice(open + 1, close),
    running: fields[0] !== 'Z',
    own: ticks(14) + ticks(15),
    ended: ticks(16) + ticks(17),
  };
}

function kilobytes(pid: number, name: string): number {
  try {
    const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN);
  } catch {
    return Number.NaN;
  }
}
