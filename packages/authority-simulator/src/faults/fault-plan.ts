import type { Operation } from '../operation.js';
import type { DocumentFault, Fault } from './fault.js';

/** The faults that hit one call: at most one of the connection and one of the document. */
interface HitFaults {
  readonly connection: Fault | null;
  readonly document: DocumentFault | null;
  /** The longest delay that one of them asks for. */
  readonly delayMs: number;
}

const NONE: HitFaults = { connection: null, document: null, delayMs: 0 };

/** The faults that are in force, in the order in which they were made. */
export class FaultPlan {
  readonly #faults = new Map<string, Fault>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  add(fault: Fault): void {
    this.#faults.set(fault.id, fault);
  }

  list(): Fault[] {
    return [...this.#faults.values()];
  }

  remove(id: string): boolean {
    return this.#faults.delete(id);
  }

  clear(): void {
    this.#faults.clear();
  }

  /** A fault of kind `down` without a limit is in force for the operation: its service is not available. */
  isDown(operation: Operation): boolean {
    return this.list().some((fault) => fault.kind === 'down' && matches(fault, operation) && fault.rate === 1);
  }

  /** The faults for one call. Each that hits counts down. Operations without a name are hit by `*` only. */
  take(operation: Operation | null): HitFaults {
    if (this.#faults.size === 0) return NONE;
    let connection: Fault | null = null;
    let document: Fault | null = null;
    for (const fault of this.#faults.values()) {
      const ofDocument = fault.kind === 'processing' || fault.kind === 'verdict';
      if (ofDocument ? document : connection) continue;
      if (!matches(fault, operation) || fault.times === 0) continue;
      if (fault.rate < 1 && this.#random() >= fault.rate) continue;
      if (fault.times !== null) fault.times -= 1;
      if (ofDocument) document = fault;
      else connection = fault;
    }
    return {
      connection,
      document: document && documentFault(document),
      delayMs: Math.max(connection?.delayMs ?? 0, document?.delayMs ?? 0),
    };
  }
}

function matches(fault: Fault, operation: Operation | null): boolean {
  return fault.operation === '*' || fault.operation === operation;
}

function documentFault(fault: Fault): DocumentFault | null {
  if (fault.kind === 'processing') return { kind: 'processing', id: fault.id };
  return fault.verdict && { kind: 'verdict', verdict: fault.verdict };
}
