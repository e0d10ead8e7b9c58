import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Block } from '../input/blocks.js';
import { type CheckedBlock, checkBlock, type Style } from './check-block.js';

/** A thread needs half a second to start, so none starts for fewer bytes (some 3,000 documents). */
const WITHOUT_THREADS = 8 * 1024 * 1024;

interface Waiting {
  resolve(checked: CheckedBlock): void;
  reject(error: Error): void;
}

/** Checks blocks, on all cores if there are many. */
export class BlockChecker {
  /** Most blocks in flight; more would only fill the memory. */
  readonly width = availableParallelism() * 3;
  #bytes = 0;
  #threads: { worker: Worker; waiting: Waiting[] }[] = [];

  constructor(private readonly style: Style) {}

  async check(block: Block): Promise<CheckedBlock> {
    this.#bytes += block.bytes?.length ?? 0;
    if (this.#bytes < WITHOUT_THREADS || availableParallelism() === 1) return checkBlock(block, this.style);
    if (this.#threads.length === 0) this.#start();
    const thread = this.#threads.reduce((least, other) =>
      other.waiting.length < least.waiting.length ? other : least,
    );
    return new Promise((resolve, reject) => {
      thread.waiting.push({ resolve, reject });
      thread.worker.postMessage(block);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #start(): void {
    for (let i = 0; i < availableParallelism(); i++) {
      const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: this.style });
      const waiting: Waiting[] = [];
      worker.on('message', (checked: CheckedBlock) => waiting.shift()?.resolve(checked));
      worker.on('error', (error: Error) => {
        for (const { reject } of waiting.splice(0)) reject(error);
      });
      this.#threads.push({ worker, waiting });
    }
  }
}
