import { parentPort, workerData } from 'node:worker_threads';
import type { Block } from '../input/blocks.js';
import { checkBlock, type Style } from './check-block.js';

/** A thread that checks blocks one after the other and answers in their order. */
parentPort?.on('message', (block: Block) => {
  parentPort?.postMessage(checkBlock(block, workerData as Style));
});
