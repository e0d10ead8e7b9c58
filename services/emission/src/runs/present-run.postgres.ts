import type { Queries } from '@ecf/postgres';

const PRESENT_RUN = {
  name: 'run_present',
  text: 'SELECT present_run($1, $2) AS run, stored_environment($1, $2, NULL) AS stored',
};

/** The present certification run of an issuer, and the environment under which its numbers are stored. */
export async function presentRun(
  queries: Queries,
  env: string,
  issuerRnc: string,
): Promise<{ readonly run: number; readonly stored: string }> {
  const { rows } = await queries.query<{ run: number; stored: string }>(PRESENT_RUN, [env, issuerRnc]);
  return rows[0] as { run: number; stored: string };
}
