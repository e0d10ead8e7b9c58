import { parentPort, workerData } from 'node:worker_threads';
import type { Block } from '../input/blocks.js';
import { judgeBlock, type Style } from './judge-block.js';

/** A thread that checks blocks one after the other and answers in their order. */
parentPort?.on('message', (block: Block) => {
  parentPort?.postMessage(judgeBlock(block, workerData as Style));
});
