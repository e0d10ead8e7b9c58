import type { DocumentFacts } from '../ledger/document-facts.js';
import type { Simulation } from '../simulation.js';
import type { CounterpartIdentity } from './identity.js';

/** The documents of the counterpart, by `<RNC of the other side>|<eNCF>`. */
interface CounterpartState {
  /** e-CF that it issued, with the answer of the receiver. */
  readonly issued: Map<string, { readonly facts: DocumentFacts; readonly receipt: ReceiptRecord }>;
  /** e-CF that it acknowledged. */
  readonly received: Map<string, DocumentFacts>;
  lastSequence: number;
}

export interface ReceiptRecord {
  readonly estado: string;
  readonly mensajes: readonly string[];
}

/** The dependencies that the counterpart's operations share. */
export interface Counterpart extends Pick<Simulation, 'ledger' | 'facts' | 'signatures' | 'clock' | 'newId'> {
  readonly identity: CounterpartIdentity;
  readonly state: CounterpartState;
}
