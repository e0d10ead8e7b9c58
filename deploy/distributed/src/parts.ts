import type { DatabaseServer, SimulatorProcess } from '@ecf/deployment';
import type { Server } from './kafka.js';

/** All started parts, in groups that stop one after the other, the last first. */
export class Parts {
  private readonly groups: (() => Promise<unknown> | undefined)[] = [];
  readonly stopping = new AbortController();
  private readonly hurried: (() => void)[] = [];
  private ending: Promise<void> | null = null;

  add(stop: () => Promise<unknown> | undefined): void {
    this.groups.push(stop);
  }

  /** Functions that end slow parts immediately. */
  onHaste(kill: () => void): void {
    this.hurried.push(kill);
  }

  stop(): Promise<void> {
    this.stopping.abort();
    this.ending ??= this.stopAll().finally(() => {
      this.ending = null;
    });
    return this.ending;
  }

  /** Ends the other parts immediately, then stops the databases in order. */
  hasten(): Promise<void> {
    for (const kill of this.hurried) kill();
    return this.stop();
  }

  private async stopAll(): Promise<void> {
    for (const stop of this.groups.splice(0).reverse()) await stop();
  }
}

type Stoppable = DatabaseServer | Server | SimulatorProcess | null;

/** Waits for all parts, and records the started ones for the stop even if one failed. */
export async function together<T extends Stoppable[]>(
  parts: Parts,
  starting: { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const results = await Promise.allSettled(starting as Promise<Stoppable>[]);
  const there = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  parts.add(() => Promise.all(there.map((part) => stopPart(part))));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return there as T;
}

async function stopPart(part: Stoppable): Promise<void> {
  if (part === null) return;
  if ('stop' in part) await part.stop();
  else await part.process?.stop();
}
