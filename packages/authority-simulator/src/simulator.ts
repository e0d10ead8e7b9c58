import type { Simulator, SimulatorOptions } from './options.js';

/** Starts a tax authority that listens on HTTP. */
export async function createSimulator(_options: SimulatorOptions = {}): Promise<Simulator> {
  throw new Error('not yet');
}
