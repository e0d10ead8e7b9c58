export type { NumberRange, Taxpayer, TaxpayerEntry } from './ledger/taxpayers.js';
export type { Simulator, SimulatorOptions } from './settings.js';
export { createSimulator } from './simulator.js';
