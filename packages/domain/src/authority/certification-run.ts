import { ENVIRONMENTS, type Environment } from './environment.js';

/** The environments in which the authority restarts a certification set, with the same numbers. */
export const RUN_ENVIRONMENTS = ['TesteCF', 'CerteCF'] as const satisfies readonly Environment[];

/** An environment and the certification run of a taxpayer in it, counted from 1. */
interface EnvironmentRun {
  readonly env: Environment;
  readonly run: number;
}

/**
 * The text under which a store keeps the numbers of a run: the environment, from the second run on with the run (`CerteCF/2`).
 * So a number of one run is free in the next.
 */
export function storedEnvironment({ env, run }: { readonly env: string; readonly run: number }): string {
  return run > 1 ? `${env}/${run}` : env;
}

/** Reads the text of {@link storedEnvironment}. @throws Error if it names no environment */
export function environmentRun(stored: string): EnvironmentRun {
  const [name, run = '1'] = stored.split('/', 2);
  const env = ENVIRONMENTS.find((each) => each === name);
  if (env === undefined) throw new Error(`${stored} names no environment`);
  return { env, run: Number(run) };
}
