import { readTaxpayers } from './control/input.js';
import type { SubmissionRow } from './control/submission-row.js';
import type { TestCertificate, TestHolder } from './control/test-certificates.js';
import type { FaultRequest } from './faults.js';
import type { TaxpayerEntry } from './ledger/taxpayers.js';

/** Settings of a simulator. Everything has a default, so that `startSimulator()` is a working authority. */
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
  readonly randomBytes?: (length: number) => Uint8Array;
}

/** A running simulator. */
export interface Simulator {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Everything that arrived with a valid token, oldest first. */
  submissions(): SubmissionRow[];
  /**
   * Lets calls fail, until the fault is used up or `reset` is called. Returns its id.
   *
   * @throws Error naming the field and its rule
   */
  fail(fault: FaultRequest): string;
  /** Deletes documents, faults and announcements. Taxpayers and tokens stay. */
  reset(): void;
  /** A new certificate with its key, to log in and to sign; `holder` is described at `TestHolder`. */
  certificate(holder?: TestHolder): TestCertificate;
  /** Ends open connections, writes pending data, and frees the port and the data folder. */
  stop(): Promise<void>;
}

/** A variable with a wrong value, and the allowed values. */
interface SettingProblem {
  readonly variable: string;
  readonly message: string;
}

/** Wrong settings; the message names every variable and the allowed values. */
export class SettingRefused extends Error {
  override readonly name = 'SettingRefused';
  constructor(readonly problems: readonly SettingProblem[]) {
    super(problems.map(({ variable, message }) => `${variable} ${message}`).join('\n'));
  }
}

/**
 * Settings from environment variables; unset ones have the defaults of SimulatorOptions.
 *
 * | variable | meaning |
 * |---|---|
 * | SIMULATOR_PORT, SIMULATOR_HOST | address; port 0 takes any free one |
 * | SIMULATOR_DATA | folder of the ledger; unset: in memory |
 * | SIMULATOR_PUBLIC_URL | address in the directory's own entry |
 * | SIMULATOR_TAXPAYERS | taxpayers to register, a JSON list of `{rnc, name, ...}` |
 * | PROCESSING_MS, STRICT_CERTIFICATION | as in SimulatorOptions |
 * | SIMULATOR_LATENCY_MS, SIMULATOR_ERROR_RATE, SIMULATOR_STATUS_KEY | as in SimulatorOptions |
 *
 * @throws SettingRefused
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): SimulatorOptions {
  const { SIMULATOR_HOST, SIMULATOR_DATA, SIMULATOR_STATUS_KEY, SIMULATOR_PUBLIC_URL } = env;
  const problems: SettingProblem[] = [];
  const numberOf = (variable: string, fallback: number, lowest: number, highest: number): number => {
    const value = readNumber(env[variable], fallback, lowest, highest);
    if (value === null) problems.push({ variable, message: `has to be a number from ${lowest} to ${highest}.` });
    return value ?? fallback;
  };
  const strictCertification = readFlag(env.STRICT_CERTIFICATION);
  if (strictCertification === null)
    problems.push({ variable: 'STRICT_CERTIFICATION', message: 'has to be true or false.' });
  const demo = taxpayersOf(env.SIMULATOR_TAXPAYERS);
  if (typeof demo === 'string')
    problems.push({ variable: 'SIMULATOR_TAXPAYERS', message: `has to be a JSON list of taxpayers: ${demo}` });
  const settings = {
    port: numberOf('SIMULATOR_PORT', 0, 0, 65_535),
    host: SIMULATOR_HOST || '127.0.0.1',
    dataDir: SIMULATOR_DATA || null,
    processingMs: numberOf('PROCESSING_MS', 200, 0, 86_400_000),
    strictCertification: strictCertification ?? false,
    latencyMs: numberOf('SIMULATOR_LATENCY_MS', 0, 0, 3_600_000),
    errorRate: numberOf('SIMULATOR_ERROR_RATE', 0, 0, 1),
    statusKey: SIMULATOR_STATUS_KEY || null,
    demo: typeof demo === 'string' ? [] : demo,
    ...(SIMULATOR_PUBLIC_URL ? { publicUrl: SIMULATOR_PUBLIC_URL.replace(/\/$/, '') } : {}),
  };
  if (problems.length > 0) throw new SettingRefused(problems);
  return settings;
}

/** Null if it is not a number within the bounds. */
function readNumber(given: string | undefined, fallback: number, lowest: number, highest: number): number | null {
  const text = given?.trim();
  if (!text) return fallback;
  const value = Number(text);
  const whole = highest <= 1 || Number.isInteger(value);
  return whole && value >= lowest && value <= highest ? value : null;
}

function readFlag(given: string | undefined): boolean | null {
  const text = given?.trim().toLowerCase() ?? '';
  if (['', '0', 'false'].includes(text)) return false;
  return ['1', 'true'].includes(text) ? true : null;
}

/** The taxpayers, or why they cannot be read. */
function taxpayersOf(text: string | undefined): TaxpayerEntry[] | string {
  try {
    return text ? readTaxpayers(text) : [];
  } catch (error) {
    return (error as Error).message;
  }
}
