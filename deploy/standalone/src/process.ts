import { type DeploymentProcess, startDeploymentProcess } from '@ecf/deployment/process';

export { EMBEDDED_SETTINGS } from '@ecf/deployment';
export {
  type DeploymentName,
  type DeploymentProcess as StandaloneProcess,
  embeddedDatabaseUrl,
  startDeploymentProcess,
} from '@ecf/deployment/process';

/** Starts the built standalone deployment as a process of its own, see {@link startDeploymentProcess}. */
export function startStandaloneProcess(
  dataDir: string,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<DeploymentProcess> {
  return startDeploymentProcess('standalone', dataDir, env, nodeOptions);
}
