import { debianProgram } from '@ecf/deployment/servers';

/** The path of promtool, which tests rules of Prometheus. Without it, null, and a message names the remedy. */
export async function promtool(): Promise<string | null> {
  const program = await debianProgram('promtool', 'prometheus-debian', ['prometheus']);
  if (program === null)
    process.stderr.write('promtool is missing. Install Prometheus. Tests that need it are skipped.\n');
  return program?.file ?? null;
}
