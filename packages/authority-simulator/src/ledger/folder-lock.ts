import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 2000;

/** Keeps two simulators from writing to one folder: the one that holds it says so under its address. */
export class FolderLock {
  readonly #file: string | null;
  readonly #instance: string;

  private constructor(file: string | null, instance: string) {
    this.#file = file;
    this.#instance = instance;
  }

  /**
   * Waits until a simulator that is about to end has left the folder.
   *
   * @throws Error when it stays
   */
  static async take(folder: string | null, instance: string): Promise<FolderLock> {
    const file = folder === null ? null : path.join(folder, 'in-use.json');
    const deadline = Date.now() + TIMEOUT_MS;
    while (file !== null && (await isHeld(file))) {
      if (Date.now() > deadline) throw new Error(`Another simulator uses ${folder}; stop it first.`);
      await delay(50);
    }
    return new FolderLock(file, instance);
  }

  /** From now on the address answers that the folder is in use. */
  hold(url: string): void {
    if (this.#file !== null) writeFileSync(this.#file, JSON.stringify({ url, instance: this.#instance }));
  }

  release(): void {
    if (this.#file !== null) rmSync(this.#file, { force: true });
  }
}

/** A lock whose address does not answer is left from a crash. A slow answer means that the folder is in use. */
async function isHeld(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  try {
    const { url, instance } = JSON.parse(readFileSync(file, 'utf8')) as { url: string; instance: string };
    const response = await fetch(`${url}/_control/instance`, { signal: AbortSignal.timeout(1000) });
    const answer = (await response.json()) as { instance?: string };
    return answer.instance === instance;
  } catch (error) {
    return (error as Error).name === 'TimeoutError';
  }
}
