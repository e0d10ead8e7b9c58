export type { SubmissionRow } from './control/submission-row.js';
export type { TestCertificate, TestHolder } from './control/test-certificates.js';
export type { FaultKind, FaultRequest } from './faults.js';
export type { NumberRange, Taxpayer, TaxpayerEntry } from './ledger/taxpayers.js';
export type { Operation } from './services.js';
export type { Simulator, SimulatorOptions } from './settings.js';
export { startSimulator } from './simulator.js';
