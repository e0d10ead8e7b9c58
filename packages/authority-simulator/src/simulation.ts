import type { TestCertificates } from './control/test-certificates.js';
import type { FaultPlan } from './faults.js';
import type { CertificationSets } from './ledger/certification-sets.js';
import type { DocumentReader } from './ledger/document-facts.js';
import type { Ledger } from './ledger/ledger.js';
import type { TaxpayerRegister } from './ledger/taxpayer-register.js';
import type { Seeds, Tokens } from './logins.js';
import type { MaintenancePlan } from './operations/maintenance.js';
import type { SignatureReading } from './verdicts/signed-document.js';

/** The shared state of the operations. */
export interface Simulation {
  readonly ledger: Ledger;
  readonly taxpayers: TaxpayerRegister;
  readonly facts: DocumentReader;
  readonly certification: CertificationSets;
  readonly seeds: Seeds;
  readonly tokens: Tokens;
  readonly faults: FaultPlan;
  readonly certificates: TestCertificates;
  readonly maintenance: MaintenancePlan;
  readonly signatures: SignatureReading;
  readonly processingMs: number;
  readonly statusKey: string | null;
  /** Address under which the simulator is reached. */
  readonly publicUrl: () => string;
  readonly clock: () => Date;
  readonly newId: () => string;
}
