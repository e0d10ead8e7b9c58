import type { TaxpayerEntry } from './ledger/taxpayers.js';

/** Settings of a simulator. Everything has a default, so that `createSimulator({})` is a working authority. */
export interface SimulatorOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** Address to listen on; 127.0.0.1 by default. */
  readonly host?: string;
  /** Folder of the ledger and the registered taxpayers; null (default) keeps them in memory. */
  readonly dataDir?: string | null;
  /** How long a received e-CF stays `En Proceso`, in milliseconds; 200 by default, 0 decides immediately. */
  readonly processingMs?: number;
  /** The certification environment is stricter: see docs/authority-simulator.md. */
  readonly strictCertification?: boolean;
  /** Added to every answer, in milliseconds. */
  readonly latencyMs?: number;
  /** Probability (0 to 1) that a call fails as busy services of the authority do. */
  readonly errorRate?: number;
  /** Key of the status service (`Authorization: Apikey ...`); null (default) accepts any key. */
  readonly statusKey?: string | null;
  /** Address under which the simulator names itself, in the directory; by default the one it listens on. */
  readonly publicUrl?: string;
  /** Taxpayers registered at the start; they replace the entries of the same RNC in the ledger. */
  readonly demo?: readonly TaxpayerEntry[];
  readonly clock?: () => Date;
  /** Makes trackIds: UUIDs. */
  readonly newId?: () => string;
  /** Decides fault and error rates: a number from 0 (inclusive) to 1. */
  readonly random?: () => number;
  readonly randomBytes?: (length: number) => Buffer;
}

/** A running simulator. */
export interface Simulator {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Ends open connections, writes pending data, and frees the port and the data folder. */
  stop(): Promise<void>;
}
