import type { Operation } from './services.js';
import type { Verdict } from './verdicts/verdict.js';

/**
 * The faults that a test or user can request.
 *
 * | kind | the caller sees | noted |
 * |---|---|---|
 * | timeout | no answer, ever | no |
 * | timeout-after | no answer, ever | yes |
 * | reset | the connection cut after its request was read | no |
 * | reset-after | the connection cut instead of the answer | yes |
 * | http | the given status and body | no |
 * | slow | the answer after `delay_ms` | yes |
 * | processing | `En Proceso` until the fault is deleted | yes |
 * | verdict | the given verdict | yes |
 * | down | the connection cut before its request is read | no |
 */
export const FAULT_KINDS = [
  'timeout',
  'timeout-after',
  'reset',
  'reset-after',
  'http',
  'slow',
  'processing',
  'verdict',
  'down',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault as a test or user requests it; see docs/authority-simulator.md. */
export interface FaultRequest {
  readonly operation: Operation | '*';
  readonly kind: FaultKind;
  /** How many calls it hits; without it, all until it is deleted. */
  readonly times?: number;
  /** Probability that it hits a call, 0 to 1; default 1. */
  readonly rate?: number;
  /** Kind `http`: status (default 503), body (text as it is, other values as JSON) and headers. */
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Kind `slow`: milliseconds before the answer. */
  readonly delay_ms?: number;
  /** Kind `verdict`. */
  readonly verdict?: {
    readonly codigo: string | number;
    readonly estado?: string;
    readonly mensajes?: readonly (string | { readonly codigo?: string | number; readonly valor?: string })[];
    readonly secuenciaUtilizada?: boolean;
  };
}

export interface Fault {
  readonly id: string;
  readonly operation: Operation | '*';
  readonly kind: FaultKind;
  /** How many more calls it hits; null: no limit. */
  times: number | null;
  /** Probability that it hits a call. */
  readonly rate: number;
  /** Answer of kind `http`. */
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly delayMs: number;
  /** For kind `verdict`. */
  readonly verdict: Verdict | null;
}

/** A fault of the document or its verdict, as opposed to one of the connection. */
export type DocumentFault =
  | { readonly kind: 'processing'; readonly id: string }
  | { readonly kind: 'verdict'; readonly verdict: Verdict };

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
