import type { CommandModule, Console, ExitCode } from './command.js';
import { COMMANDS, overview } from './commands.js';
import { parseOptions, UsageError } from './options.js';
import { ownVersion } from './version.js';

/** Runs one command line and says with which code the process is to end. */
export async function run(args: string[], console: Console): Promise<ExitCode> {
  const [name = '', ...rest] = args;
  try {
    if (name === '--version') {
      console.stdout.write(`${ownVersion()}\n`);
      return 0;
    }
    if (name === 'help' || name === '--help' || name === '-h') return await help(rest[0], console);
    if (name === '') {
      console.stderr.write(overview());
      return 2;
    }
    const command = await load(name);
    if (rest.includes('-h')) return await help(name, console);
    const { values, files } = parseOptions(command.options, rest);
    if (values.help === true) return await help(name, console);
    return await command.execute(values, files, console);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const more = COMMANDS[name] === undefined ? '' : ` ${name}`;
    console.stderr.write(`ecf${more}: ${error.message}\nSee \`ecf help${more}\`.\n`);
    return 2;
  }
}

async function help(name: string | undefined, console: Console): Promise<ExitCode> {
  console.stdout.write(name === undefined ? overview() : (await load(name)).help);
  return 0;
}

async function load(name: string): Promise<CommandModule> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    throw new UsageError(`unknown command "${name}". The commands are: ${Object.keys(COMMANDS).join(', ')}.`);
  }
  return command.load();
}
