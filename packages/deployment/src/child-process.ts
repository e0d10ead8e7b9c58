import { type ChildProcess, fork } from 'node:child_process';

/** A program of this deployment, kept running: whenever it ends by itself, it is started again. */
export interface KeptProcess {
  readonly name: string;
  /** Of the present run; undefined between two. */
  pid(): number | undefined;
  /** Ends it for good: SIGTERM, then SIGKILL after the patience. */
  stop(patienceMs?: number): Promise<void>;
}

export interface ProcessOptions {
  name: string;
  /** File of the program. */
  file: string;
  env: NodeJS.ProcessEnv;
  /** Options of Node itself; by default those of this process. */
  nodeOptions?: readonly string[];
  /** Resolves once the started child is of use; rejects where it never will be. */
  ready(child: ChildProcess): Promise<void>;
  /** Where the child's words go. */
  output?: (chunk: Buffer) => void;
  /** Told when it ended by itself, and when it is there again. */
  onChange(what: string): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A run of this length counts as a success: the next pause is short again. */
const STEADY_MS = 10_000;

/**
 * Starts a program as a child with a channel, so that it ends when this process is gone however that happened.
 * @throws Error when it ends before it is ready for the first time; the message carries its last words
 */
export async function keepRunning(options: ProcessOptions): Promise<KeptProcess> {
  let stopping = false;
  let child: ChildProcess;
  let pause = FIRST_PAUSE_MS;
  let again: NodeJS.Timeout | undefined;

  async function launch(): Promise<void> {
    const started = Date.now();
    child = fork(options.file, [], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // A group of its own: Ctrl-C reaches this process first, which then stops its children in order.
      detached: true,
      env: options.env,
      execArgv: [...(options.nodeOptions ?? process.execArgv)],
    });
    const present = child;
    let errors = '';
    present.stdout?.on('data', (chunk: Buffer) => options.output?.(chunk));
    present.stderr?.on('data', (chunk: Buffer) => {
      errors = `${errors}${chunk}`.slice(-4_000);
      options.output?.(chunk);
    });
    const failed = new Promise<never>((_, reject) => {
      present.once('error', reject);
      present.once('exit', (code, signal) =>
        reject(new Error(`${options.name} ended (${signal ?? `exit code ${code}`}). ${errors.trim()}`)),
      );
    });
    failed.catch(() => undefined);
    await Promise.race([options.ready(present), failed]);
    const watch = (): void => {
      void failed.catch((error: Error) => {
        if (stopping) return;
        if (Date.now() - started > STEADY_MS) pause = FIRST_PAUSE_MS;
        options.onChange(`${firstLine(error)}; starting it again`);
        later();
      });
    };
    watch();
  }

  function later(): void {
    again = setTimeout(() => {
      launch().then(
        () => options.onChange(`${options.name} is there again`),
        (error: Error) => {
          if (stopping) return;
          options.onChange(`${options.name} does not start: ${firstLine(error)}`);
          if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
          later();
        },
      );
    }, pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }

  await launch();
  return {
    name: options.name,
    pid: () => (child.exitCode === null && child.signalCode === null ? child.pid : undefined),
    async stop(patienceMs = 5_000) {
      stopping = true;
      clearTimeout(again);
      await ended(child, patienceMs);
    },
  };
}

function firstLine(error: Error): string {
  return error.message.trim().split('\n')[0] ?? '';
}

function ended(child: ChildProcess, patienceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
