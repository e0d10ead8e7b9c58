import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { variablePrefix } from '@ecf/contracts';
import { makeServiceKeys } from '@ecf/http/identity';
import { ConfigError, makeSealingKeys, readMasterKeys } from '@ecf/kit';
import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin } from '../gateway-admin.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { wantsJson } from '../output.js';

export const options: Options = { 'data-dir': 'value', json: 'switch', text: 'switch' };

export const help = `ecf keys services
ecf keys sealing
ecf keys reseal [options]

Makes the keys of a deployment, and seals what it stores under a new master key.

Actions
  services  makes a key pair and a password for each service and writes them as
            lines for the .env of a deployment: GATEWAY_PRIVATE_KEY and so on
            are the SERVICE_PRIVATE_KEY of each service, SERVICE_PUBLIC_KEYS is
            for all of them; GATEWAY_PASSWORD and so on are for its own user at
            PostgreSQL and Kafka. No key is stored
  sealing   makes of MASTER_KEY the keys for what each service seals and writes
            them as lines for the .env of a deployment: GATEWAY_SEALING_KEYS and
            so on are the SEALING_KEYS of each service. The same MASTER_KEY
            gives the same lines. Several master keys: the newest first,
            separated by commas
  reseal    seals everything under the newest master key, while the deployment
            serves. Before: put the new key first in MASTER_KEY, make
            SEALING_KEYS of it, and start every instance with them. A run that
            was interrupted is repeated. Needs the role operator

Options
  --data-dir D  data folder of a sandbox, for its demo.json; default DATA_DIR,
                else .data
  --json        the result of reseal as a JSON object; --text is for people, the
                default on a terminal

reseal calls the gateway of ECF_URL with ADMIN_TOKEN (the token of an
administrator is good too); demo.json supplies what is not set.

Exit codes
  0  no value is sealed under an older key
  1  some values are still sealed under an older key
  2  wrong usage, or the gateway refuses

Examples
  ecf keys services >> deploy/compose/.env
  MASTER_KEY=... ecf keys sealing >> deploy/compose/.env
  ecf keys reseal
`;

interface State {
  key_id: string;
  services: { service: string; older: number; instances: { id: string; key_ids: string[] }[] }[];
}

const PAUSE_MS = 500;
/** Calls in a row without progress after which the command ends; the services wait for the events of the gateway. */
const MOST_CALLS_WITHOUT_PROGRESS = 120;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  const verb = given.join(' ');
  if (verb === 'services') return services(console);
  if (verb === 'sealing') return sealing(console);
  if (verb === 'reseal') return reseal(values, console);
  throw new UsageError('say services, sealing or reseal.');
}

function services(console: Console): ExitCode {
  const keys = makeServiceKeys();
  for (const [service, { SERVICE_PRIVATE_KEY }] of Object.entries(keys)) {
    const name = variablePrefix(service);
    console.stdout.write(`${name}_PRIVATE_KEY=${SERVICE_PRIVATE_KEY}\n`);
    console.stdout.write(`${name}_PASSWORD=${randomBytes(24).toString('hex')}\n`);
  }
  console.stdout.write(`SERVICE_PUBLIC_KEYS=${keys.gateway.SERVICE_PUBLIC_KEYS}\n`);
  return 0;
}

function sealing(console: Console): ExitCode {
  for (const [service, keys] of Object.entries(makeSealingKeys(masterKeysOf(process.env))))
    console.stdout.write(`${variablePrefix(service)}_SEALING_KEYS=${keys}\n`);
  return 0;
}

function masterKeysOf(env: NodeJS.ProcessEnv): readonly Uint8Array[] {
  try {
    const masterKeys = readMasterKeys(env);
    if (masterKeys !== null) return masterKeys;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
  throw new UsageError(
    'set MASTER_KEY in the environment: 32 bytes in base64, or several such keys separated by commas.',
  );
}

async function reseal(values: OptionValues, console: Console): Promise<ExitCode> {
  const admin = openGatewayAdmin(values);
  const block = async () => (await admin.call('POST', '/admin/master-keys/reseal')) as State;
  let state = await block();
  let waited = 0;
  while (olderIn(state) > 0 && waited < MOST_CALLS_WITHOUT_PROGRESS) {
    console.stderr.write(`${state.services.map(({ service, older }) => `${service} ${older}`).join(', ')}\n`);
    const own = state.services.find(({ service }) => service === 'gateway')?.older ?? 0;
    const before = olderIn(state);
    if (own === 0) await delay(PAUSE_MS);
    state = await block();
    waited = olderIn(state) < before ? 0 : waited + 1;
  }
  const older = olderIn(state);
  const text =
    older === 0
      ? `everything is sealed under ${state.key_id}\n`
      : `${older} values are still sealed under older keys\n`;
  console.stdout.write(wantsJson(values, console.stdout) ? `${JSON.stringify(state)}\n` : text);
  return older === 0 ? 0 : 1;
}

function olderIn({ services }: State): number {
  return services.reduce((sum, { older }) => sum + older, 0);
}
