import { taxpayerOf } from './control/taxpayer-input.js';
import type { TaxpayerEntry } from './ledger/taxpayers.js';
import type { SimulatorOptions } from './options.js';

/** A setting that cannot be used; the message names the variable and what is allowed. */
export class SettingRefused extends Error {
  override readonly name = 'SettingRefused';
}

/**
 * Settings from environment variables; what is unset takes the default of SimulatorOptions.
 *
 * | variable | meaning |
 * |---|---|
 * | SIMULATOR_PORT, SIMULATOR_HOST | where to listen; port 0 takes any free one |
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
  return {
    port: numberOf(env, 'SIMULATOR_PORT', 0, 0, 65_535),
    host: SIMULATOR_HOST || '127.0.0.1',
    dataDir: SIMULATOR_DATA || null,
    processingMs: numberOf(env, 'PROCESSING_MS', 200, 0, 86_400_000),
    strictCertification: flagOf(env, 'STRICT_CERTIFICATION'),
    latencyMs: numberOf(env, 'SIMULATOR_LATENCY_MS', 0, 0, 3_600_000),
    errorRate: numberOf(env, 'SIMULATOR_ERROR_RATE', 0, 0, 1),
    statusKey: SIMULATOR_STATUS_KEY || null,
    demo: taxpayersOf(env.SIMULATOR_TAXPAYERS),
    ...(SIMULATOR_PUBLIC_URL ? { publicUrl: SIMULATOR_PUBLIC_URL.replace(/\/$/, '') } : {}),
  };
}

function numberOf(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  fallback: number,
  lowest: number,
  highest: number,
): number {
  const text = env[name]?.trim();
  if (!text) return fallback;
  const value = Number(text);
  const whole = highest <= 1 || Number.isInteger(value);
  if (whole && value >= lowest && value <= highest) return value;
  throw new SettingRefused(`${name} has to be a number from ${lowest} to ${highest}.`);
}

function flagOf(env: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const text = env[name]?.trim().toLowerCase() ?? '';
  if (['', '0', 'false'].includes(text)) return false;
  if (['1', 'true'].includes(text)) return true;
  throw new SettingRefused(`${name} has to be true or false.`);
}

function taxpayersOf(text: string | undefined): TaxpayerEntry[] {
  if (!text) return [];
  try {
    return (JSON.parse(text) as { rnc: string }[]).map((entry) => taxpayerOf(entry.rnc, { ...entry }));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SettingRefused(`SIMULATOR_TAXPAYERS has to be a JSON list of taxpayers: ${reason}`, { cause });
  }
}
