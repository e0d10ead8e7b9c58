import { parseArgs } from 'node:util';

/** Wrong usage, or a file that cannot be read: exit code 2, with the remedy. */
export class UsageError extends Error {}

/** Options of a command: `switch` has no value, `value` has one. A name of one letter is a short option (`-o`). */
export type Options = Readonly<Record<string, 'switch' | 'value'>>;

export type OptionValues = Readonly<Record<string, string | boolean | undefined>>;

/**
 * Splits a command's arguments into options and files; `-` is a file (standard input), after `--` everything is one.
 *
 * @throws UsageError
 */
export function parseOptions(options: Options, args: string[]): { values: OptionValues; files: string[] } {
  const config = Object.fromEntries(
    Object.entries({ ...options, help: 'switch' as const }).map(([name, kind]) => [
      name,
      {
        type: kind === 'switch' ? ('boolean' as const) : ('string' as const),
        ...(name.length === 1 ? { short: name } : {}),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args, options: config, allowPositionals: true });
    return { values: values as OptionValues, files: positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageError(message.replace(/ To specify a positional.*$/s, ''), { cause: error });
  }
}

/** Options that apply to every verb: the address of the gateway and the form of the output. */
const ALWAYS: readonly string[] = ['data-dir', 'json', 'text'];

/**
 * Refuses options that do not apply to the verb. If they were ignored, the user would think that they count.
 *
 * @param verb the action of the command, as in "retry"
 * @throws UsageError
 */
export function takesOnly(verb: string, taken: readonly string[], values: OptionValues): void {
  const idle = Object.keys(values).filter(
    (name) => ![...ALWAYS, ...taken].includes(name) && values[name] !== undefined,
  );
  if (idle.length === 0) return;
  const names = (list: readonly string[]) => list.map((name) => `--${name}`).join(', ');
  throw new UsageError(
    `${verb} does not take ${names(idle)}; it takes ${taken.length === 0 ? 'none but ' : ''}${names([...taken, ...ALWAYS])}.`,
  );
}
