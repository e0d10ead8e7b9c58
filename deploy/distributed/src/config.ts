import { busSettings } from '@ecf/bus';
import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { type DeploymentConfig, deploymentSettings } from '@ecf/deployment';
import { describeSetting, setting } from '@ecf/kit';
import { z } from 'zod';

/** Settings of the distributed deployment itself; all others go to the services unchanged. */
export const distributedSettings = z.object({
  ...deploymentSettings,
  PORT: setting.integer({
    description: 'Port of the gateway; 0 takes any free one, and so do all other processes',
    min: 0,
    max: 65_535,
    default: 8080,
  }),
  METRICS_PORT: setting.integer({
    description: 'Port of GET /metrics of all processes together; 0 takes any free one',
    min: 0,
    max: 65_535,
    default: 0,
  }),
  KAFKA_BROKERS: describeSetting(busSettings.KAFKA_BROKERS, {
    description: 'Addresses of Kafka brokers to use; unset = one is started, by Docker or in Java',
    allowed: 'host:port, several separated by commas',
  }),
  REDIS_URL: setting.optionalUrl({
    description: 'A Redis server to use; unset = one is started, by Docker or as a program of this machine',
    protocols: ['redis:', 'rediss:'],
    secret: true,
  }),
  INSTANCES: setting.integer({
    description: 'Processes of each service; each further gateway has its own address',
    min: 1,
    max: 8,
    default: 1,
  }),
  INSTANCES_OF: describeSetting(
    setting
      .list({ description: '' })
      .refine((names): names is ServiceName[] => names.every((name) => SERVICE_NAMES.includes(name as ServiceName))),
    {
      description: 'Services that INSTANCES applies to; the others run once',
      allowed: 'names of services, separated by commas',
      default: 'all',
    },
  ),
  SERVICE_RUNNER: setting.optionalText({
    description:
      'Program that starts each service, from an image or another version, instead of this checkout; it gets the names of service and process',
  }),
});

export type DistributedConfig = DeploymentConfig &
  Pick<
    z.infer<typeof distributedSettings>,
    'PORT' | 'METRICS_PORT' | 'KAFKA_BROKERS' | 'REDIS_URL' | 'INSTANCES' | 'INSTANCES_OF' | 'SERVICE_RUNNER'
  >;
