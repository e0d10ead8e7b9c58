import type { RunStarted } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Queries, Statement } from '@ecf/postgres';

/** A certification run of a taxpayer that begins; every earlier one of `env` has ended. */
export interface StartedRun {
  readonly env: Environment;
  readonly rnc: string;
  /** From 2. */
  readonly run: number;
  readonly startedAt: Date;
}

/** Takes each event of `runs.v1` as the start of a run. */
export function runHandler(runs: { start(run: StartedRun): Promise<void> }) {
  return async ({ data }: { readonly data: unknown }): Promise<void> => {
    const { env, issuer_rnc: rnc, run, started_at } = data as RunStarted;
    await runs.start({ env, rnc, run, startedAt: new Date(started_at) });
  };
}

/**
 * Gives what belongs to the run before another environment, of a form that no look-up names, so that a repeated start finds no more.
 *
 * @param statements each takes what came before $4, of or for the taxpayer $2 in the environment $1, and sets the environment $3
 */
export async function setAside(
  queries: Queries,
  statements: readonly Statement[],
  { env, rnc, run, startedAt }: StartedRun,
): Promise<void> {
  for (const statement of statements) await queries.query(statement, [env, rnc, `${env}/${run - 1}/${rnc}`, startedAt]);
}
