import { randomBytes } from 'node:crypto';
import { makeServiceKeys } from '@ecf/service-kit/security';
import type { Console, ExitCode } from '../command.js';
import type { Options, OptionValues } from '../options.js';
import { UsageError } from '../usage-error.js';

export const options: Options = {};

export const help = `ecf keys services

Makes a key pair and a password for each service and writes them as lines for the .env of a deployment: GATEWAY_PRIVATE_KEY and so
on are the SERVICE_PRIVATE_KEY of each service, SERVICE_PUBLIC_KEYS is for all of them; GATEWAY_PASSWORD and so on are for a user
of its own at PostgreSQL and Kafka. Nothing is stored.

  ecf keys services >> deploy/compose/.env
`;

export async function execute(_values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  if (given.join(' ') !== 'services') throw new UsageError('say services.');
  const keys = makeServiceKeys();
  for (const [service, { SERVICE_PRIVATE_KEY }] of Object.entries(keys)) {
    const name = service.toUpperCase().replaceAll('-', '_');
    console.stdout.write(`${name}_PRIVATE_KEY=${SERVICE_PRIVATE_KEY}\n`);
    console.stdout.write(`${name}_PASSWORD=${randomBytes(24).toString('hex')}\n`);
  }
  console.stdout.write(`SERVICE_PUBLIC_KEYS=${keys.gateway.SERVICE_PUBLIC_KEYS}\n`);
  return 0;
}
