import { type ChildProcess, fork, spawn } from 'node:child_process';
import { StartError } from '@ecf/service';

/** A program of this deployment. It is restarted whenever it ends unexpectedly. */
export interface KeptProcess {
  readonly name: string;
  /** The process id of the present run; undefined between two runs. */
  pid(): number | undefined;
  /** Ends it for good: SIGTERM, then SIGKILL after the timeout. */
  stop(timeoutMs?: number): Promise<void>;
  /** Ends it permanently, without a delay; `stop` waits for that. */
  kill(): void;
}

export interface ProcessOptions {
  name: string;
  /** Begins a run, with standard output and error as pipes. */
  begin(): ChildProcess;
  /** Resolves when the started child is ready; rejects if it never will be. */
  ready(child: ChildProcess): Promise<void>;
  /** Destination of the child's output. */
  output?: (chunk: Buffer) => void;
  /** Called when the child ended unexpectedly, and when it runs again. */
  onChange(what: string): void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** A run of this length counts as a success: the next pause is short again. */
const STEADY_MS = 10_000;

/** A Node program with a channel, so that it ends when this process ends for any reason. */
export function nodeProgram(
  file: string,
  env: NodeJS.ProcessEnv,
  nodeOptions: readonly string[] = process.execArgv,
): ChildProcess {
  return fork(file, [], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Its own process group: Ctrl-C reaches this process first, which then stops its children in order.
    detached: true,
    env,
    execArgv: [...nodeOptions],
  });
}

/** Ends the process in `$2` within a second after the end of the one in `$1`, for any reason. */
const WATCH =
  'while kill -0 "$1" 2>/dev/null && kill -0 "$2" 2>/dev/null; do sleep 1; done; kill -TERM "$2" 2>/dev/null';

/** Any program. It does not watch its parent, so another process watches over it. */
export function foreignProgram(program: string, args: readonly string[], env = process.env): ChildProcess {
  const child = spawn(program, [...args], { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env });
  if (child.pid !== undefined) {
    const names = ['sh', String(process.pid), String(child.pid)];
    spawn('sh', ['-c', WATCH, ...names], { detached: true, stdio: 'ignore' }).unref();
  }
  return child;
}

/**
 * Starts a program as a child process, and restarts it whenever it ends unexpectedly.
 * @throws StartError when it ends before it is ready for the first time; the message has its last output
 */
export async function keepRunning(options: ProcessOptions): Promise<KeptProcess> {
  let stopping = false;
  let child: ChildProcess;
  let pause = FIRST_PAUSE_MS;
  let again: NodeJS.Timeout | undefined;

  async function launch(): Promise<void> {
    const started = Date.now();
    child = options.begin();
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
        reject(new StartError(`${options.name} ended (${signal ?? `exit code ${code}`}). ${errors.trim()}`)),
      );
    });
    failed.catch(() => undefined);
    await Promise.race([options.ready(present), failed]);
    void failed.catch((error: Error) => {
      if (stopping) return;
      if (Date.now() - started > STEADY_MS) pause = FIRST_PAUSE_MS;
      options.onChange(`${firstLine(error)}; starting it again`);
      later();
    });
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
    kill() {
      stopping = true;
      clearTimeout(again);
      child.kill('SIGKILL');
    },
    async stop(timeoutMs = 5_000) {
      stopping = true;
      clearTimeout(again);
      await ended(child, timeoutMs);
    },
  };
}

function firstLine(error: Error): string {
  return error.message.trim().split('\n')[0] ?? '';
}

function ended(child: ChildProcess, timeoutMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const force = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
