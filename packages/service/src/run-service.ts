import { ListenError } from '@ecf/http';
import { ConfigError, redactText } from '@ecf/kit';
import { sqlState } from '@ecf/postgres';
import { stopTelemetry } from './telemetry-stop.js';

/** A start that failed; the message gives the full reason. */
export class StartError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'StartError';
  }
}

/** Signals within this time count as one: the terminal sends Ctrl-C to npm and to the service, and npm forwards it. */
const ONE_SIGNAL_MS = 500;

/** A service that runs as a process. */
export interface RunnableService {
  start(): Promise<unknown>;
  stop(): Promise<void>;
  /** At a second signal: quickly ends everything that would outlive this process. */
  hasten?(): Promise<void>;
}

/**
 * Runs a service until SIGINT, SIGTERM or SIGHUP, then stops it in order and ends with 0. A second signal, at least half
 * a second later, ends the process with 130; it waits only for {@link RunnableService.hasten}.
 * A failed start prints its reason on standard error, stops the parts that had started, and exits with 1. A process that was
 * started with a channel to its parent also stops when that parent is gone.
 */
export async function runService(name: string, create: () => RunnableService): Promise<void> {
  let service: RunnableService | null = null;
  let stopping = false;
  let hastening = false;
  let since = 0;
  const stop = async () => {
    if (hastening || (stopping && Date.now() - since < ONE_SIGNAL_MS)) return;
    if (stopping) {
      hastening = true;
      await service?.hasten?.().catch(() => undefined);
      process.exit(130);
    }
    stopping = true;
    since = Date.now();
    try {
      await service?.stop();
    } catch (error) {
      // A dependency ended before the service.
      if (hastening) return;
      throw error;
    }
    if (hastening) return;
    await stopTelemetry();
    process.exit(0);
  };
  // A closed reader of our output does not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // A closed terminal sends SIGHUP, which Node does not ignore under nohup either.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  process.once('disconnect', () => {
    if (!stopping) void stop();
  });
  try {
    service = create();
    await service.start();
  } catch (error) {
    process.stderr.write(`${name} did not start. ${redactText(wordsOf(error))}\n`);
    await service?.stop().catch(() => undefined);
    process.exit(1);
  }
}

/** The text for the operator: without a stack if the message is sufficient. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ([ConfigError, ListenError, StartError].some((kind) => error instanceof kind)) return error.message;
  // Errors of files: the operation, the path and the reason.
  const { syscall, path } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && path !== undefined) return `${error.message}.`;
  // Login or database refused.
  if (/^(28|3D)/.test(sqlState(error) ?? '')) return `The database refuses: ${error.message}. Check DATABASE_URL.`;
  return error.stack ?? error.message;
}
