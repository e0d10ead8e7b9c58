#!/usr/bin/env node
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { readSettings, SettingRefused } from './settings.js';
import { startSimulator } from './simulator.js';

const HELP = `Plays the tax authority of the Dominican Republic over HTTP, for e-CF software
under development. Documents that it accepts have no legal effect.

Usage
  authority-simulator [options]

Options
  --port N    port on 127.0.0.1; default 4010, 0 takes any free one
  --data DIR  keeps documents and taxpayers in a folder; default: in memory
  --json      one line {"ready":true,"url":"..."} in place of the text
  --version   the version

Environment
  SIMULATOR_PORT, SIMULATOR_HOST, SIMULATOR_DATA
                          address and folder
  SIMULATOR_PUBLIC_URL    its own address in the directory
  SIMULATOR_TAXPAYERS     taxpayers to register: a JSON list of {rnc, name, ...}
  SIMULATOR_STATUS_KEY    key of the status service; default: any
  SIMULATOR_LATENCY_MS    added to every answer
  SIMULATOR_ERROR_RATE    probability (0 to 1) that a call fails
  PROCESSING_MS           how long a document stays in process; default 200
  STRICT_CERTIFICATION    true: the stricter certification environment

Exit codes
  0  it was ended by Ctrl-C or a signal
  1  it cannot start
  2  wrong usage

Examples
  authority-simulator
  authority-simulator --port 8090 --data ./authority
`;

const DEFAULT_PORT = '4010';

process.exitCode = await run();

/** Runs until a signal, or until the parent process that started it with a channel ends. */
async function run(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    console.error(`authority-simulator: ${(error as Error).message}\nSee \`authority-simulator --help\`.`);
    return 2;
  }
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string };
  if (options.help === true || options.version === true) {
    process.stdout.write(options.help === true ? HELP : `${version}\n`);
    return 0;
  }
  const env = {
    ...process.env,
    SIMULATOR_PORT: options.port ?? (process.env.SIMULATOR_PORT || DEFAULT_PORT),
    SIMULATOR_DATA: options.data ?? process.env.SIMULATOR_DATA,
  };
  try {
    const simulator = await startSimulator(readSettings(env));
    const end = (): void => {
      simulator.stop().then(
        () => process.exit(0),
        () => process.exit(1),
      );
    };
    process.once('SIGTERM', end);
    process.once('SIGINT', end);
    process.once('disconnect', end);
    const isForProgram = options.json === true || process.send !== undefined;
    console.log(isForProgram ? JSON.stringify({ ready: true, url: simulator.url }) : welcome(simulator.url, version));
    return 0;
  } catch (error) {
    console.error(`authority-simulator: ${reasonOf(error, env.SIMULATOR_PORT)}`);
    return 1;
  }
}

function readOptions() {
  return parseArgs({
    options: {
      port: { type: 'string' },
      data: { type: 'string' },
      json: { type: 'boolean' },
      version: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  }).values;
}

function welcome(url: string, version: string): string {
  return `Authority simulator ${version} is ready. Its documents have no legal effect.

  Page      ${url}/
  Services  ${url}/{testecf|certecf|ecf}/{service}/...
  Status    ${url}/api/estatusservicios/...
  Control   ${url}/_control/...

Next
  Fetch a test certificate; its password is "simulador":
    curl -fo test.p12 ${url}/_control/certificate
  Point your software to the services, send a document, and see it on the page
  or here:
    curl ${url}/_control/submissions
  Let the next reception fail:
    curl ${url}/_control/faults \\
      -d '{"operation": "recepcion", "kind": "timeout", "times": 1}'

Ctrl-C ends it.`;
}

function reasonOf(error: unknown, port: string): string {
  if (error instanceof SettingRefused) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `port ${port} is taken. Choose another one with --port, or any free one with --port 0.`;
  if (code === 'EACCES') return `port ${port} needs more rights. Choose one above 1023 with --port.`;
  return message;
}
