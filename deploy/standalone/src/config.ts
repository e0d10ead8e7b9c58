import { type DeploymentConfig, deploymentSettings } from '@ecf/deployment';
import { setting } from '@ecf/kit';
import { z } from 'zod';

/** Settings of the standalone deployment itself; all others go to the services unchanged. */
export const standaloneSettings = z.object({
  ...deploymentSettings,
  METRICS_PORT: setting.integer({
    description: 'Port of GET /metrics; 0 takes any free one',
    min: 0,
    max: 65_535,
    default: 0,
  }),
});

export type StandaloneConfig = DeploymentConfig & { METRICS_PORT: number };
